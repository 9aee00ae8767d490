import LayoverHTTP
import Testing

/// However the network cuts the bytes, the decoder says the same.
struct SplitInvarianceTests {
    static let all: [[UInt8]] = AcceptedRequest.all.map(\.bytes) + RefusedRequest.all.map(\.bytes)

    @Test func splitAtAnyByteGivesTheSameResult() {
        for bytes in Self.all {
            let whole = Transcript(of: bytes)
            #expect(Transcript(of: bytes, cuts: Array(0...bytes.count)) == whole)
            // Long inputs are long because of padding: their interesting places are at the ends.
            let cuts = bytes.count < 600
                ? Array(0...bytes.count)
                : Array(0...150) + Array((bytes.count - 150)...bytes.count)
            for cut in cuts {
                let parts = Transcript(of: bytes, cuts: [cut])
                if parts != whole {
                    Issue.record("cut at \(cut): \(String(decoding: bytes.prefix(200), as: UTF8.self))")
                }
            }
        }
    }
}
