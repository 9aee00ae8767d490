/// Writes the lines of `RequestFields` from those of a head or a trailer section.
///
/// The memory must hold what is written; see the callers for why it does.
struct FieldLineWriter {
    private let memory: UnsafeMutableRawBufferPointer
    private(set) var byteCount = 0

    init(_ memory: UnsafeMutableRawBufferPointer) {
        self.memory = memory
    }

    @inline(__always)
    mutating func writeField(_ field: FieldRange, of bytes: UnsafeRawBufferPointer) {
        write(bytes, field.name)
        write(ASCII.colon)
        write(ASCII.space)
        write(bytes, field.value)
        write(0)
    }

    @inline(__always)
    mutating func write(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        UnsafeMutableRawBufferPointer(rebasing: memory[byteCount...])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range]))
        byteCount &+= range.count
    }

    @inline(__always)
    mutating func write(_ byte: UInt8) {
        memory[byteCount] = byte
        byteCount &+= 1
    }
}
