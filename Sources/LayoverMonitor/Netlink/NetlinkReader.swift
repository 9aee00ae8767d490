/// Reads fixed-size numbers out of bytes from the kernel, with every length checked.
struct NetlinkReader {
    private let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var count: Int { bytes.count }

    /// A number in the machine's own byte order, as netlink(7) has it; nil past the end.
    func load<Number: FixedWidthInteger>(_ offset: Int, as type: Number.Type) -> Number? {
        guard offset >= 0, offset + MemoryLayout<Number>.size <= bytes.count else { return nil }
        return bytes.loadUnaligned(fromByteOffset: offset, as: type)
    }

    /// A part of the bytes; nil if it reaches past the end.
    func part(from offset: Int, count: Int) -> NetlinkReader? {
        guard offset >= 0, count >= 0, offset + count <= bytes.count else { return nil }
        return NetlinkReader(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
    }

    var array: [UInt8] { Array(bytes) }

    /// Bytes up to the first NUL, as text.
    var text: String { String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }

    /// The attributes (rtnetlink(7), `RTA_NEXT`) from an offset on. Stops at the first that does not fit.
    func attributes(from start: Int) -> [UInt16: NetlinkReader] {
        var found: [UInt16: NetlinkReader] = [:]
        var offset = start
        while let length = load(offset, as: UInt16.self), let type = load(offset + 2, as: UInt16.self),
            length >= 4, let value = part(from: offset + 4, count: Int(length) - 4)
        {
            // The two highest bits are flags (NLA_F_NESTED, NLA_F_NET_BYTEORDER).
            found[type & 0x3fff] = value
            offset += (Int(length) + 3) & ~3
        }
        return found
    }
}
