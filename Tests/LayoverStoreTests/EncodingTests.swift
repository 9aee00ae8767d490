import LayoverCore
@testable import LayoverStore
import LayoverTestSupport
import NIOCore
import Testing

@Suite struct EncodingTests {
    @Test(arguments: [0, 1, -1, 63, 64, -64, -65, 127, 128, 1 << 40, .max, .min] as [Int64])
    func numbersComeBack(number: Int64) throws {
        var writer = ByteWriter()
        writer.write(number)
        writer.write(UInt64(bitPattern: number))
        try writer.bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            let (signed, unsigned) = (try reader.readInt64(), try reader.readUInt64())
            #expect(signed == number)
            #expect(unsigned == UInt64(bitPattern: number))
            #expect(reader.isAtEnd)
        }
    }

    @Test func aTimelineComesBack() throws {
        let bytes = AttemptLogBytes.encode(.fixture)
        let log = try bytes.withUnsafeBytes { try AttemptLogBytes.decode($0) }
        #expect(log == .fixture)
        #expect(AttemptLogBytes.encode(AttemptLog()).isEmpty)
        #expect(try AttemptLogBytes.decode(UnsafeRawBufferPointer(start: nil, count: 0)) == AttemptLog())
    }

    @Test func everyNameOfTheRulesComesBack() throws {
        var verdicts: [Verdict] = []
        for rule in Verdict.ParkingRule.allCases {
            for reason in UndecidedReason.allCases {
                verdicts.append(.park(.init(delay: .seconds(-1), shutsGate: true, asks: reason, rule: rule)))
            }
        }
        verdicts += Verdict.DeliverReason.allCases.map { .deliver($0) }
        verdicts += Verdict.FailReason.allCases.map { .fail($0) }
        for verdict in verdicts {
            var writer = ByteWriter()
            writer.write(verdict)
            let read = try writer.bytes.withUnsafeBytes { bytes in
                var reader = ByteReader(bytes)
                return try reader.readVerdict()
            }
            #expect(read == verdict)
        }
    }

    /// Cut off anywhere it is refused; changed anywhere it is refused or read as something, and never traps.
    @Test func damagedTimelineIsEmpty() throws {
        let bytes = AttemptLogBytes.encode(.fixture)
        for count in 1..<bytes.count {
            #expect(throws: ByteReader.Malformed.self) {
                try bytes[..<count].withUnsafeBytes { try AttemptLogBytes.decode($0) }
            }
        }
        let seed = UInt64.random(in: .min ... .max)
        var generator = SeededGenerator(seed: seed)
        for round in 0..<20_000 {
            var damaged = bytes
            for _ in 0...Int.random(in: 0...3, using: &generator) {
                let place = Int.random(in: damaged.indices, using: &generator)
                damaged[place] = UInt8.random(in: .min ... .max, using: &generator)
            }
            let log = try? damaged.withUnsafeBytes { try AttemptLogBytes.decode($0) }
            #expect((log?.records.count ?? 0) <= damaged.count, "seed \(seed), round \(round)")
        }
    }
}
