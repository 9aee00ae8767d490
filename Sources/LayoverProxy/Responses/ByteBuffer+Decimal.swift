import NIOCore

extension ByteBuffer {
    /// Writes a number without a sign. Negative ones do not occur here and are written as 0.
    mutating func writeDecimal(_ number: Int) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var rest = max(0, number)
            var start = digits.count
            repeat {
                start -= 1
                digits[start] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            writeBytes(digits[start...])
        }
    }

    /// Moves the bytes from `end` on before those from `place` on. Both are offsets from the first readable byte.
    mutating func moveTail(from end: Int, to place: Int) {
        let count = readableBytes - end
        guard count > 0, place < end, place >= 0 else { return }
        withUnsafeMutableReadableBytes { bytes in
            withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { tail in
                tail.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[end...]))
                // Source and target overlap; `copyMemory` is made for that.
                UnsafeMutableRawBufferPointer(rebasing: bytes[(place + count)...])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[place..<end]))
                UnsafeMutableRawBufferPointer(rebasing: bytes[place..<(place + count)]).copyMemory(from: UnsafeRawBufferPointer(tail))
            }
        }
    }
}
