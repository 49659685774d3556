#!/usr/bin/env python3
"""Extracts the uncompressed kernel from a bzImage; the boot protocol's header says where its payload is.   usage: vm-kernel.py SOURCE TARGET"""
import gzip
import lzma
import struct
import sys


def payload(image: bytes) -> bytes:
    if image[0x202:0x206] != b"HdrS":
        sys.exit("vm-kernel: the file is not a bzImage")
    setup_sectors = image[0x1F1] or 4
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (setup_sectors + 1) * 512 + offset
    return image[start : start + length]


def main() -> None:
    source, target = sys.argv[1:3]
    with open(source, "rb") as file:
        packed = payload(file.read())
    if packed.startswith(b"\xfd7zXZ\0"):
        kernel = lzma.LZMADecompressor(format=lzma.FORMAT_XZ).decompress(packed)
    elif packed.startswith(b"\x1f\x8b"):
        kernel = gzip.decompress(packed)
    else:
        sys.exit("vm-kernel: unknown compression of the kernel; xz and gzip are supported")
    with open(target, "wb") as file:
        file.write(kernel)


main()
