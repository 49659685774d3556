"""Reads PNG files of 8-bit RGB or RGBA without other packages, and writes a pattern as one."""
import pathlib
import struct
import zlib


def unfiltered(kind, line, above, step):
    """Adds to each byte what its filter (1 left, 2 above, 3 their mean, 4 Paeth) predicts."""
    if kind == 2:
        return bytearray((a + b) & 255 for a, b in zip(line, above))
    for i in range(len(line)) if kind else ():
        a = line[i - step] if i >= step else 0
        b = above[i]
        if kind == 4:
            c = above[i - step] if i >= step else 0
            p = a + b - c
            pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
            guess = a if pa <= pb and pa <= pc else b if pb <= pc else c
        else:
            guess = a if kind == 1 else (a + b) // 2
        line[i] = (line[i] + guess) & 255
    return line


def read(path):
    """Returns width, height and rows of RGB bytes."""
    data = pathlib.Path(path).read_bytes()
    at, packed = 8, b""
    width = height = step = 0
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if kind == b"IHDR":
            width, height, bits, colour = struct.unpack(">IIBB", body[:10])
            assert bits == 8 and colour in (2, 6), path
            step = 3 if colour == 2 else 4
        if kind == b"IDAT":
            packed += body
        at += size + 12
    raw, rows, above = zlib.decompress(packed), [], bytes(width * step)
    for y in range(height):
        start = y * (width * step + 1)
        above = unfiltered(raw[start], bytearray(raw[start + 1:start + 1 + width * step]), above, step)
        rows.append(above)
    if step == 4:
        rows = [b"".join(row[i:i + 3] for i in range(0, len(row), 4)) for row in rows]
    return width, height, [bytes(row) for row in rows]


def write(path, width, height, pixel):
    """Writes RGB of pixel(x, y)."""
    rows = b"".join(b"\0" + b"".join(bytes(pixel(x, y)) for x in range(width)) for y in range(height))

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pathlib.Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) +
                                   chunk(b"IEND", b""))
