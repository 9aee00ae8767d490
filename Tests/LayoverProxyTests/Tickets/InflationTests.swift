import LayoverReplay
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverProxy

struct InflationTests {
    /// `{"id":"o-77","n":[1,2]}`: 23 bytes.
    private static let text = #"{"id":"o-77","n":[1,2]}"#
    private static let gzip = CompressedResponseTests.bytes(
        "1f8b0800000000000203ab56ca4c51b252cad7353757d251ca53b28a36d4318aad050057175fa417000000")

    private func failure(_ coding: ContentCoding, _ bytes: ByteBuffer, upTo limit: Int = 1 << 20) -> Inflation.Failure? {
        do throws(Inflation.Failure) {
            _ = try Inflation.undo(coding, of: bytes, upTo: limit)
            return nil
        } catch {
            return error
        }
    }

    @Test func inflationLimitAppliesToTheOutput() throws {
        #expect(try Inflation.undo(.gzip, of: Self.gzip, upTo: 23) == ByteBuffer(string: Self.text))
        #expect(failure(.gzip, Self.gzip, upTo: 22) == .tooLong)
        #expect(failure(.gzip, Self.gzip, upTo: 0) == .tooLong)
    }

    @Test func truncatedInputIsBroken() {
        for count in 0..<Self.gzip.readableBytes {
            #expect(failure(.gzip, Self.gzip.getSlice(at: 0, length: count) ?? ByteBuffer()) == .broken, "\(count)")
        }
    }

    /// For every input: bytes within the limit, or an error.
    @Test func randomInputFailsOrStaysWithinTheLimit() throws {
        let seed = UInt64.random(in: 1...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for round in 0..<5000 {
            var bytes = Self.gzip
            for _ in 0...Int.random(in: 0...3, using: &generator) {
                bytes.setInteger(
                    UInt8.random(in: 0...255, using: &generator), at: Int.random(in: 0..<bytes.readableBytes, using: &generator))
            }
            if round % 2 == 0 { bytes.moveReaderIndex(forwardBy: 10) }
            let coding: ContentCoding = round % 2 == 0 ? .deflate : .gzip
            guard let result = try? Inflation.undo(coding, of: bytes, upTo: 40) else { continue }
            #expect(result.readableBytes <= 40, "seed \(seed), round \(round)")
        }
    }
}
