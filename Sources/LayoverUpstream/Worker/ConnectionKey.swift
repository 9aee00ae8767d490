import Glibc

/// Names one TCP connection of ours by its two ends, as PREREQFUNCTION tells them.
struct ConnectionKey: Hashable {
    private let ports: UInt32
    private let addresses: UInt64

    init(
        remoteAddress: UnsafePointer<CChar>, remotePort: CInt, localAddress: UnsafePointer<CChar>,
        localPort: CInt
    ) {
        ports = UInt32(truncatingIfNeeded: remotePort) << 16 | UInt32(truncatingIfNeeded: localPort) & 0xFFFF
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for text in [remoteAddress, localAddress] {
            Self.mix(text, into: &hash)
        }
        addresses = hash
    }

    /// FNV-1a; the addresses are at most 45 characters long.
    private static func mix(_ text: UnsafePointer<CChar>, into hash: inout UInt64) {
        var next = text
        while next.pointee != 0 {
            hash = (hash ^ UInt64(UInt8(bitPattern: next.pointee))) &* 0x100_0000_01b3
            next += 1
        }
        hash = (hash ^ 0xFF) &* 0x100_0000_01b3
    }
}
