import CZlib
import LayoverReplay
import NIOCore

/// Undoes the compression of a body that is there whole, with a limit on what comes out.
///
/// A few bytes can stand for gigabytes, so nothing is written past the limit, and what is over it is an error.
enum Inflation {
    enum Failure: Error {
        /// The content is not compressed that way, breaks off, or goes on behind its end.
        case broken
        case tooLong
    }

    /// - Parameter byteCountMax: Bytes that may come out.
    static func undo(
        _ coding: ContentCoding, of bytes: ByteBuffer, upTo byteCountMax: Int
    ) throws(Failure) -> ByteBuffer {
        let windowBits =
            switch coding {
            // zlib.h: 16 more means the gzip format.
            case .gzip: MAX_WBITS + 16
            // The name says RFC 1950, yet many send RFC 1951, which has no header. Negative: without one.
            case .deflate: hasHeader(bytes) ? MAX_WBITS : -MAX_WBITS
            }
        let result = run(bytes, windowBits: windowBits, isGzip: coding == .gzip, upTo: byteCountMax)
        return try result.get()
    }

    /// RFC 1950 section 2.2: method 8, and a check that makes the two bytes a multiple of 31.
    private static func hasHeader(_ bytes: ByteBuffer) -> Bool {
        guard let start = bytes.getInteger(at: bytes.readerIndex, as: UInt16.self) else { return false }
        return (start >> 8) & 15 == 8 && start % 31 == 0
    }

    private static func run(
        _ bytes: ByteBuffer, windowBits: CInt, isGzip: Bool, upTo byteCountMax: Int
    ) -> Result<ByteBuffer, Failure> {
        var input = bytes
        guard let inputCount = UInt32(exactly: input.readableBytes) else { return .failure(.tooLong) }
        // zlib keeps the address of its state, so it must not move.
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        defer { stream.deallocate() }
        guard inflateInit2_(stream, windowBits, ZLIB_VERSION, CInt(MemoryLayout<z_stream>.size)) == Z_OK else {
            return .failure(.broken)
        }
        defer { inflateEnd(stream) }
        return input.withUnsafeMutableReadableBytes { source in
            stream.pointee.next_in = source.bindMemory(to: UInt8.self).baseAddress
            stream.pointee.avail_in = inputCount
            return inflate(stream, isGzip: isGzip, upTo: byteCountMax)
        }
    }

    /// Bytes that come out at once. Default: 64 KiB.
    private static let portion = 64 << 10

    private static func inflate(
        _ stream: UnsafeMutablePointer<z_stream>, isGzip: Bool, upTo byteCountMax: Int
    ) -> Result<ByteBuffer, Failure> {
        var output = ByteBuffer()
        while true {
            // One byte more than is allowed shows that it is too long.
            let room = min(portion, byteCountMax + 1 - output.readableBytes)
            var status = Z_OK
            output.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { target in
                stream.pointee.next_out = target.bindMemory(to: UInt8.self).baseAddress
                stream.pointee.avail_out = UInt32(room)
                status = CZlib.inflate(stream, Z_NO_FLUSH)
                return room - Int(stream.pointee.avail_out)
            }
            if output.readableBytes > byteCountMax { return .failure(.tooLong) }
            switch status {
            case Z_OK:
                break
            case Z_STREAM_END:
                if stream.pointee.avail_in == 0 { return .success(output) }
                // RFC 1952 section 2.2: one member may follow another.
                guard isGzip, inflateReset(stream) == Z_OK else { return .failure(.broken) }
            default:
                // Z_BUF_ERROR among them: there is room, so it is the input that has run out.
                return .failure(.broken)
            }
        }
    }
}

extension ParentResponse {
    /// Undoes the compression of its body, if that can be done here.
    mutating func decompress(upTo byteCountMax: Int) {
        guard var body, case .known(let codings) = ContentCoding.list(in: fields), !codings.isEmpty else { return }
        do throws(Inflation.Failure) {
            for coding in codings.reversed() { body = try Inflation.undo(coding, of: body, upTo: byteCountMax) }
            self.body = body
            self.coding = .undone
        } catch {
            self.body = nil
            self.coding = error == .tooLong ? .tooLong : .broken
        }
    }
}
