import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverEngine

/// Random interleavings of client, reader and file. Whatever happens: a reader that comes to the end saw
/// exactly what was received, the window stays within its limit, and nobody sleeps for ever.
struct BodyCaptureSimulationTests {
    /// The seeds are worth something only if they reach what is rare.
    @Test func everyInterleavingKeepsItsPromises() {
        var (ends, broken, losses, failures, fetches) = (0, 0, 0, 0, 0)
        for seed in 0..<400 as Range<UInt64> {
            var simulation = BodySimulation(seed: seed)
            for _ in 0..<400 { simulation.step() }
            simulation.finish()
            #expect(simulation.complaints.isEmpty, "seed \(seed): \(simulation.complaints)")
            #expect(simulation.reachedTheEndCount + simulation.brokenOffCount > 0, "seed \(seed)")
            ends += simulation.reachedTheEndCount
            broken += simulation.brokenOffCount
            losses += simulation.capture.isLost ? 1 : 0
            failures += simulation.failedWriteCount
            fetches += simulation.fetchCount
        }
        #expect(ends > 100 && broken > 20 && losses > 20 && failures > 10 && fetches > 100)
    }
}

/// One body with its three neighbours, each of which does the next thing when the dice say so.
struct BodySimulation {
    private var dice: SeededGenerator
    private(set) var capture: BodyCapture
    private let limits: CapturedBody.Limits
    private let total: Int
    private let breaksOff: Bool
    private let canFailToWrite: Bool
    private static let chunkMax = 40

    private var sentCount = 0
    private var mayClientSend = true
    private var file: [UInt8] = []
    private var isFileDropped = false
    private var pendingWrite: (bytes: [UInt8], offset: Int)?
    private var pendingFetches: [(offset: Int, count: Int, reader: Int)] = []
    private var reader: Int?
    private var readerCount = 0
    private var position = 0
    private var isReaderAwake = true
    private var isReaderOver = false

    private(set) var complaints: [String] = []
    private(set) var reachedTheEndCount = 0
    private(set) var brokenOffCount = 0
    private(set) var failedWriteCount = 0
    private(set) var fetchCount = 0

    init(seed: UInt64) {
        dice = SeededGenerator(seed: seed)
        var limits = CapturedBody.Limits()
        limits.inMemoryMax = Int.random(in: 0...60, using: &dice)
        limits.byteCountMax = max(limits.inMemoryMax, Int.random(in: 20...600, using: &dice))
        limits.windowMax = Int.random(in: 1...100, using: &dice)
        self.limits = limits
        total = Int.random(in: 0...800, using: &dice)
        breaksOff = Int.random(in: 0..<8, using: &dice) == 0
        canFailToWrite = Int.random(in: 0..<3, using: &dice) == 0
        capture = BodyCapture(limits: limits, mayBeSentTwice: Int.random(in: 0..<4, using: &dice) > 0)
    }

    private static func byte(at index: Int) -> UInt8 { UInt8(truncatingIfNeeded: index &* 31 &+ index >> 8) }

    mutating func step() {
        switch Int.random(in: 0..<20, using: &dice) {
        case 0..<7: clientSends()
        case 7..<10: fileWrites()
        case 10..<13: fileReads()
        case 13..<18: readerReads()
        case 18: openReader()
        default:
            if Int.random(in: 0..<4, using: &dice) == 0 { closeReader() } else { apply(capture.roomMayBeBack()) }
        }
    }

    /// Everybody does what is left to do, and nobody may be stuck.
    mutating func finish() {
        if reader == nil || isReaderOver { openReader() }
        for _ in 0..<20_000 where !isReaderOver {
            clientSends()
            fileWrites()
            fileReads()
            readerReads()
        }
        if !isReaderOver { complaints.append("stuck at \(position) of \(sentCount) (\(total)), awake \(isReaderAwake), client \(mayClientSend)") }
    }

    // MARK: The three

    private mutating func clientSends() {
        guard capture.end == nil, mayClientSend else { return }
        if sentCount == total { return apply(capture.ended(breaksOff ? .brokenOff : .finished)) }
        let count = min(total - sentCount, Int.random(in: 1...Self.chunkMax, using: &dice))
        let bytes = (sentCount..<sentCount + count).map(Self.byte)
        sentCount += count
        let effects = capture.received(ByteBuffer(bytes: bytes))
        mayClientSend = !capture.isClientWaiting
        apply(effects)
        if capture.tailCount > limits.windowMax + Self.chunkMax { complaints.append("window \(capture.tailCount)") }
    }

    private mutating func fileWrites() {
        guard let (bytes, offset) = pendingWrite else { return }
        pendingWrite = nil
        if isFileDropped || canFailToWrite && Int.random(in: 0..<3, using: &dice) == 0 {
            failedWriteCount += 1
            return apply(capture.writeFailed())
        }
        // What is in memory leaves a hole at the start of the file.
        file += [UInt8](repeating: 0, count: max(0, offset - file.count)) + bytes
        apply(capture.wrote(bytes.count))
    }

    private mutating func fileReads() {
        guard !pendingFetches.isEmpty else { return }
        let fetch = pendingFetches.removeFirst()
        fetchCount += 1
        let end = min(file.count, fetch.offset + Int.random(in: 1...max(1, fetch.count), using: &dice))
        let bytes = isFileDropped || fetch.offset >= end ? nil : ByteBuffer(bytes: file[fetch.offset..<end])
        if bytes == nil, fetch.reader == reader { complaints.append("fetched what is not in the file") }
        apply(capture.fetched(bytes, for: fetch.reader))
    }

    private mutating func readerReads() {
        guard let reader, !isReaderOver, isReaderAwake else { return }
        var memory = [UInt8](repeating: 0, count: Int.random(in: 1...64, using: &dice))
        let (result, effects) = memory.withUnsafeMutableBytes { capture.read(into: $0, number: reader) }
        switch result {
        case .bytes(let count):
            if count < 1 { complaints.append("no bytes") }
            let expected = (position..<position + count).map(Self.byte)
            if Array(memory[..<count]) != expected { complaints.append("wrong bytes at \(position)") }
            position += count
        case .wait:
            isReaderAwake = false
        case .end:
            if position != sentCount || sentCount != total { complaints.append("end at \(position)") }
            isReaderOver = true
            reachedTheEndCount += 1
        case .brokenOff:
            if !capture.isLost, capture.end != .brokenOff { complaints.append("broken off for nothing") }
            isReaderOver = true
            brokenOffCount += 1
        }
        apply(effects)
    }

    private mutating func openReader() {
        readerCount += 1
        reader = readerCount
        (position, isReaderAwake, isReaderOver) = (0, true, false)
        capture.readerOpened(number: readerCount)
    }

    private mutating func closeReader() {
        guard let reader else { return }
        self.reader = nil
        apply(capture.readerClosed(number: reader))
    }

    private mutating func apply(_ effects: BodyCapture.Effects) {
        if let write = effects.write {
            if pendingWrite != nil { complaints.append("two writes at once") }
            pendingWrite = (Array(write.bytes.readableBytesView), write.offset)
        }
        if let fetch = effects.fetch {
            if fetch.offset < 0 || fetch.count < 1 { complaints.append("fetch \(fetch)") }
            pendingFetches.append(fetch)
        }
        if effects.dropsFile { isFileDropped = true }
        if effects.wakesReader { isReaderAwake = true }
        if effects.resumesClient { mayClientSend = true }
    }
}
