"""Draws lines and quads of gl_fixed.c's scenes by the rules of the manuals (Sandy Bridge PRM vol. 2 part 1, strips and fans
unit), pixel by pixel and slowly. This is the reference for scenes in which llvmpipe follows another rule (docs/drawing.md).

A line with a width is a parallelogram around it, with ends along the shorter axis; pixels whose centre is inside are drawn. A
line without a width follows the diamond exit rule. A smooth line is a rectangle whose coverage falls off at its sides and
ends, over the distance that Mesa asks for: one pixel and half a pixel; before Gen6 half a pixel and one. From Gen6 on Mesa
makes thin smooth lines plain; before that it makes them 1.5 pixels wide. Each pixel along the longer axis is one step of the
pattern. Values are those of the line's nearest point.

Quads are polygons that begin with the last vertex. Before Gen6 Mesa splits them itself: smooth-shaded quads from their first
vertex; smooth-shaded strips of quads are strips of triangles.
"""
import math
import re

SIZE = 64
BACKGROUND = (0.25 * 255, 0.5 * 255, 0.75 * 255, 255)
COLOURS = [(255, 64, 32), (32, 255, 64), (64, 32, 255), (255, 255, 0), (0, 255, 255), (255, 0, 255)]


def places(source, name):
    """Returns the vertices of a scene, in window coordinates on the grid of 1/256 pixels, with colours."""
    text = re.search(r"%s\[\] = \{(.*?)\}" % name, source, re.S).group(1)
    numbers = [float(word.rstrip("f")) for word in re.findall(r"-?[0-9.]+f?", text)]
    return list(zip(numbers[::2], numbers[1::2]))


def on_grid(place):
    return tuple(round((v + 1) * SIZE / 2 * 256) / 256 for v in place)


def diamond(a, b, x, y):
    """Returns whether the line is in the pixel's diamond and ends outside of it."""
    def distance(t):
        return abs(a[0] + t * (b[0] - a[0]) - x) + abs(a[1] + t * (b[1] - a[1]) - y)

    stops = [0.0, 1.0]
    for axis, centre in ((0, x), (1, y)):
        if a[axis] != b[axis]:
            stops.append(min(1.0, max(0.0, (centre - a[axis]) / (b[axis] - a[axis]))))
    return min(map(distance, stops)) < 0.5 <= distance(1.0)


class Picture:
    def __init__(self):
        self.pixels = {(x, y): BACKGROUND for y in range(SIZE) for x in range(SIZE)}

    def line(self, a, b, first, second, width=1.0, smooth=None, keep=lambda step: True):
        """Draws a line from a to b with the colours of both; returns its number of steps. smooth: widths of the
        regions at sides and ends in which coverage falls off."""
        dx, dy = b[0] - a[0], b[1] - a[1]
        length = math.hypot(dx, dy)
        major = 1 if abs(dy) > abs(dx) else 0
        low, high = sorted((a[major], b[major]))
        columns = [n for n in range(-SIZE, 2 * SIZE) if low <= n + 0.5 < high]
        if b[major] < a[major]:
            columns.reverse()
        for (x, y), old in list(self.pixels.items()):
            centre = (x + 0.5, y + 0.5)
            px, py = centre[0] - a[0], centre[1] - a[1]
            along = (px * dx + py * dy) / length
            fraction = 1.0
            if smooth:
                across = abs(px * dy - py * dx) / length
                sides = min(1.0, max(0.0, 0.5 + (width / 2 - across) / smooth[0]))
                fraction = sides * min(1.0, max(0.0, 0.5 + min(along, length - along) / smooth[1]))
                inside = fraction > 0
            elif width == 0:
                inside = diamond(a, b, *centre)
            else:
                t = (centre[major] - a[major]) / (b[major] - a[major])
                middle = a[1 - major] + t * (b[1 - major] - a[1 - major])
                column = (x, y)[major]
                inside = column in columns and -width / 2 < centre[1 - major] - middle <= width / 2
                inside = inside and keep(columns.index(column))
            if inside:
                t = along / length
                colour = [p + t * (q - p) for p, q in zip((*first, 255), (*second, 255))]
                mixed = [min(255, max(0, c)) * fraction + o * (1 - fraction) for c, o in zip(colour, old)]
                self.pixels[x, y] = (*mixed[:3], 255 * fraction * fraction + old[3] * (1 - fraction))
        return len(columns)

    def triangle(self, corners, colours):
        (x0, y0), (x1, y1), (x2, y2) = corners
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        for x, y in list(self.pixels):
            px, py = x + 0.5 - x0, y + 0.5 - y0
            b = (px * (y2 - y0) - (x2 - x0) * py) / area
            c = ((x1 - x0) * py - px * (y1 - y0)) / area
            if min(b, c, 1 - b - c) >= 0:
                mixed = [p * (1 - b - c) + q * b + r * c for p, q, r in zip(*colours)]
                self.pixels[x, y] = (*mixed, 255)

    def bytes(self):
        return bytes(min(255, max(0, round(c))) for y in range(SIZE) for x in range(SIZE) for c in self.pixels[x, y])


def outline(picture, corners, colours, flags=None):
    for i, corner in enumerate(corners):
        after = (i + 1) % len(corners)
        if flags is None or flags[i]:
            picture.line(corner, corners[after], colours[i], colours[after])


def cut(a, b, first, second):
    """Returns the part of a line on the kept side of x + y / 2 + 0.3."""
    def side(place):
        return place[0] + 0.5 * place[1] + 0.3

    if side(a) < 0 and side(b) < 0:
        return None
    if side(a) < 0 or side(b) < 0:
        t = side(a) / (side(a) - side(b))
        middle = tuple(p + t * (q - p) for p, q in zip(a, b))
        mixed = tuple(p + t * (q - p) for p, q in zip(first, second))
        return (middle, b, mixed, second) if side(a) < 0 else (a, middle, first, mixed)
    return a, b, first, second


def scenes(source, first_chips):
    """Returns the pictures by name. first_chips: before Gen6."""
    made = {}
    star, five = places(source, "kStar"), places(source, "kFive")
    quads, three = places(source, "kQuads"), places(source, "kThree")
    colours = [COLOURS[i % 6] for i in range(32)]
    pattern = 0x5F35

    def draw(name):
        made[name] = Picture()
        return made[name]

    def lines(name, **how):
        picture = draw(name)
        for i in range(0, len(star), 2):
            picture.line(on_grid(star[i]), on_grid(star[i + 1]), colours[i], colours[i + 1], **how)

    lines("lines")
    lines("wide_lines", width=5.0)
    lines("smooth_lines", width=3.0, smooth=(0.5, 1.0) if first_chips else (1.0, 0.5))
    lines("thin_smooth_lines", **({"width": 1.5, "smooth": (0.5, 1.0)} if first_chips else {"width": 0}))
    lines("line_stipple", keep=lambda step: pattern >> step // 2 % 16 & 1)
    picture = draw("line_strip")
    for i in range(len(star) - 1):
        picture.line(on_grid(star[i]), on_grid(star[i + 1]), colours[i], colours[i + 1])
    picture, done = draw("strip_stipple"), 0
    for i in range(len(star) - 1):
        done += picture.line(on_grid(star[i]), on_grid(star[i + 1]), colours[i], colours[i + 1],
                             keep=lambda step: pattern >> (done + step) // 3 % 16 & 1)
    outline(draw("line_loop"), [on_grid(p) for p in five], colours)
    picture = draw("flat_lines")
    for i in range(5):
        after = (i + 1) % 5
        picture.line(on_grid(five[i]), on_grid(five[after]), colours[after], colours[after])
    outline(draw("outline_polygon"), [on_grid(p) for p in five], colours)
    picture = draw("outlines")
    outline(picture, [on_grid(p) for p in three], colours)
    for first in (0, 4):
        outline(picture, [on_grid(p) for p in quads[first:first + 4]], colours[3 + first:])
    picture = draw("edge_flags")
    for first in (0, 4):
        outline(picture, [on_grid(p) for p in quads[first:first + 4]], colours[first:],
                [i % 3 != 1 for i in range(first, first + 4)])
    outline(picture, [on_grid(p) for p in three], colours[8:], [True, True, False])
    outline(picture, [on_grid(p) for p in five], colours[11:], [True, True, True, False, True])
    picture = draw("clipped_lines")
    for i in range(0, len(star), 2):
        kept = cut(star[i], star[i + 1], colours[i], colours[i + 1])
        if kept:
            picture.line(on_grid(kept[0]), on_grid(kept[1]), *kept[2:])
    strip = places(source, "kStrip")
    picture = draw("quads")
    for first in (0, 4):
        for part in ((0, 1, 2), (0, 2, 3)) if first_chips else ((3, 0, 1), (3, 1, 2)):
            picture.triangle([on_grid(quads[first + i]) for i in part], [colours[first + i] for i in part])
    picture = draw("quad_strip")
    for first in (0, 2, 4):
        for part in ((0, 1, 2), (1, 3, 2)) if first_chips else ((3, 2, 0), (3, 0, 1)):
            picture.triangle([on_grid(strip[first + i]) for i in part], [colours[first + i] for i in part])
    return {name: picture.bytes() for name, picture in made.items()}
