import LayoverCore
import LayoverEngine
import NIOCore

extension PendingStoreContract {
    static let changes: [Check] = [
        .inOneStore("an update applies only to a lower revision") { store in
            _ = try await store.apply(.insert(.fixture(1, revision: 5), .fixture(), nil))
            for revision in [4, 5] {
                let result = try await store.apply(.update(.fixture(1, revision: revision, state: .held)))
                try require(result, is: .stale)
            }
            var update = TicketRecord.everything(1)
            update.revision = 9
            try require(try await store.apply(.update(update)), is: .done)
            try require(try store.live(), is: [update])
            try require(try await store.apply(.update(.fixture(2))), is: .stale)
        },
        Check(name: "a ticket says which newer one took its place, as long as it is kept") { room in
            try await room.withStore { store in
                _ = try await store.apply(.insert(.fixture(1), .fixture(), nil))
                var superseded = TicketRecord.fixture(1, revision: 2, state: .cancelled)
                superseded.supersededBy = .fixture(2)
                try require(try await store.apply(.update(superseded)), is: .done)
            }
            try await room.withStore { store in
                try require(try await store.record(of: .fixture(1))?.supersededBy, is: .fixture(2))
            }
        },
        Check(name: "a settled ticket says who knew it, as long as it is kept") { room in
            let word = Settlement(
                author: .init(who: "admin", from: "[::1]:9"), at: Timestamp(nanoseconds: -7),
                outcome: .init(status: 201, note: "schon gebucht \u{1F682}"))
            try await room.withStore { store in
                for number in 1...2 { _ = try await store.apply(.insert(.fixture(number), .fixture(), nil)) }
                var settled = TicketRecord.fixture(1, revision: 2, state: .delivered)
                settled.settledBy = word
                try require(try await store.apply(.update(settled)), is: .done)
                settled = TicketRecord.fixture(2, revision: 2, state: .delivered)
                settled.settledBy = Settlement(author: .loopback, at: word.at, outcome: .init())
                try require(try await store.apply(.update(settled)), is: .done)
            }
            try await room.withStore { store in
                try require(try await store.record(of: .fixture(1))?.settledBy, is: word)
                try require(try await store.record(of: .fixture(2))?.settledBy?.outcome, is: .init())
                try require(try store.live(), is: [])
            }
        },
        .inOneStore("a live ticket can become anything, a final one nothing") { store in
            var number = 0
            for old in EntryState.allCases {
                for new in EntryState.allCases {
                    number += 1
                    let why = { (state: EntryState) in state == .undecided ? UndecidedReason.rejected : nil }
                    _ = try await store.apply(.insert(.fixture(number), .fixture(), nil))
                    if old == .attempting {
                        _ = try await store.apply(.started(.fixture(number), revision: 2, counts: .init(all: 1)))
                    } else {
                        _ = try await store.apply(.update(.fixture(number, revision: 2, state: old, why: why(old))))
                    }
                    let change = TicketRecord.fixture(number, revision: 3, state: new, why: why(new))
                    let result = try await store.apply(.update(change))
                    try require(result, is: old.isFinal ? .stale : .done)
                    let expected =
                        old.isFinal ? old : new == .attempting && old != .attempting ? .waiting : new
                    try require(try await store.record(of: .fixture(number))?.state, is: expected)
                    let hasRequest = try await store.request(of: .fixture(number)) != nil
                    try require(hasRequest, is: !expected.isFinal)
                }
            }
        },
        Check(name: "a final ticket takes late evidence, and no other change") { room in
            var end = TicketRecord.everything(1)
            (end.state, end.why, end.revision, end.endedAt) = (.cancelled, nil, 8, end.parkedAt)
            var evidence = end
            evidence.revision = 9
            evidence.counts = AttemptCounts(all: 9, automatic: 8, mayHaveBeenApplied: true)
            evidence.lastFailure?.message = "The attempt was cut off."
            evidence.lastFailureAt = end.parkedAt
            evidence.attempts.append(AttemptRecord(number: 9, trigger: .admin, startedAt: end.parkedAt))
            let expected = evidence
            evidence.route = "another"
            var (older, other, live) = (evidence, evidence, evidence)
            older.revision = 8
            (other.state, live.state, live.endedAt) = (.expired, .waiting, nil)
            try await room.withStore { store in
                _ = try await store.apply(.insert(.fixture(1), .fixture(), nil))
                try require(try await store.apply(.lateEvidence(evidence)), is: .stale)
                try require(try await store.apply(.lateEvidence(live)), is: .stale)
                try require(try await store.apply(.update(end)), is: .done)
                for refused in [older, other, live] {
                    try require(try await store.apply(.lateEvidence(refused)), is: .stale)
                }
                try require(try await store.record(of: .fixture(1)), is: end)
                try require(try await store.apply(.lateEvidence(evidence)), is: .done)
            }
            try await room.withStore { store in
                try require(try await store.record(of: .fixture(1)), is: expected)
                try require(try store.live(), is: [])
            }
        },
        Check(name: "a URL that is cut in memory stays whole on disk, and is found by all of it") { room in
            var record = TicketRecord.fixture(1)
            record.request.url += "/" + String(repeating: "a", count: 6 << 10) + "/Tail"
            let url = record.url
            var query = PendingQuery()
            query.filter.states = [.failed]
            query.filter.text = "tail"
            try await room.withStore { store in
                _ = try await store.apply(.insert(record, .fixture(), nil))
                record.request.url = String(url.prefix(1 << 10)) + "…"
                record.request.isURLInStore = true
                (record.state, record.revision, record.endedAt) = (.failed, 2, record.createdAt)
                try require(try await store.apply(.update(record)), is: .done)
                try require(try await store.record(of: record.id)?.url, is: url)
                try require(try await store.ended(query, naming: .plain).map(\.id), is: [record.id])
                record.revision = 3
                record.lastFailure = .fixture
                record.lastFailureAt = record.createdAt
                try require(try await store.apply(.lateEvidence(record)), is: .done)
            }
            try await room.withStore { store in
                let stored = try await store.record(of: record.id)
                try require(stored?.url, is: url)
                try require(stored?.request.isURLInStore, is: false)
                try require(stored?.lastFailure, is: .fixture)
                try require(try await store.ended(query, naming: .plain).map(\.id), is: [record.id])
            }
        },
        .inOneStore("an attempt starts only from waiting or attempting, and not when the row is newer") { store in
            let counts = AttemptCounts(all: 3, automatic: 2, mayHaveBeenApplied: true)
            _ = try await store.apply(.insert(.fixture(1, revision: 4), .fixture(), nil))
            try require(try await store.apply(.started(.fixture(1), revision: 3, counts: counts)), is: .stale)
            try require(try await store.record(of: .fixture(1))?.state, is: .waiting)
            for revision in [4, 6] {
                let result = try await store.apply(.started(.fixture(1), revision: revision, counts: counts))
                try require(result, is: .done)
                let record = try await store.record(of: .fixture(1))
                try require(record?.state, is: .attempting)
                try require(record?.revision, is: revision)
                try require(record?.counts, is: counts)
            }
            for (index, state) in [EntryState.held, .undecided, .cancelled].enumerated() {
                let record = TicketRecord.fixture(
                    1, revision: 7 + index, state: state, why: state == .undecided ? .exhausted : nil)
                try require(try await store.apply(.update(record)), is: .done)
                try require(try await store.apply(.started(.fixture(1), revision: 99, counts: counts)), is: .stale)
                try require(try await store.record(of: .fixture(1)), is: record)
            }
            try require(try await store.apply(.started(.fixture(2), revision: 99, counts: counts)), is: .stale)
        },
        Check(name: "an attempt that started is attempting after a restart") { room in
            try await room.withStore { store in
                _ = try await store.apply(.insert(.fixture(1), .fixture(), nil))
                _ = try await store.apply(.update(.fixture(1, revision: 2, state: .attempting)))
                try require(try store.live().map(\.state), is: [.waiting])
                _ = try await store.apply(.started(.fixture(1), revision: 2, counts: .init(all: 1, automatic: 1)))
                // Other changes during the attempt do not remove the start record.
                _ = try await store.apply(.update(.fixture(1, revision: 3, state: .attempting)))
            }
            try await room.withStore { try require(try $0.live().map(\.state), is: [.attempting]) }
        },
        Check(name: "an answer is kept as it came, until it is dropped") { room in
            let response = StoredResponse(
                status: 201, fields: ByteBuffer(string: "Set-Cookie: a=b\r\nLocation: /1\r\n"),
                body: .inline(ByteBuffer(bytes: 0...255)), isBodyLost: true)
            var end = TicketRecord.fixture(1, revision: 2, state: .delivered)
            end.ticket.status = 201
            try await room.withStore { store in
                _ = try await store.apply(.insert(.fixture(1), .fixture(), nil))
                try require(try await store.apply(.dropResponse(.fixture(1))), is: .stale)
                try require(try await store.apply(.delivered(end, response)), is: .done)
                let late = TicketRecord.fixture(1, revision: 3, state: .delivered)
                try require(try await store.apply(.delivered(late, response)), is: .stale)
                try require(try await store.apply(.delivered(.fixture(2, state: .delivered), response)), is: .stale)
            }
            try await room.withStore { store in
                try require(try store.live(), is: [])
                try require(try await store.record(of: .fixture(1)), is: end)
                try require(try await store.request(of: .fixture(1)), is: nil)
                try require(try await store.response(of: .fixture(1)), is: response)
                try require(try store.endStates(of: [.fixture(1), .fixture(2)]), is: [.fixture(1): .delivered])
                try require(try await store.apply(.dropResponse(.fixture(1))), is: .done)
                try require(try await store.response(of: .fixture(1)), is: nil)
                try require(try await store.record(of: .fixture(1)), is: end)
                try require(try await store.apply(.dropResponse(.fixture(2))), is: .stale)
            }
        },
    ]
}
