import Foundation
import Testing

@testable import LayoverCore

/// Every pair of a state and an event, as the machines answer it, written down for people.
@Suite struct StateMachineDocumentTests {
    /// To write the tables anew: `UPDATE_DOCS=1 swift test --filter LayoverCoreTests`.
    @Test func documentMatchesTheStateMachines() throws {
        let file = repository.appending(path: "docs/state-machines.md")
        let tables = [StateTable.entry, .exchange, .gate, .reachability].map(\.markdown)
        let expected = Self.introduction + tables.joined(separator: "\n")
        let written = try? String(contentsOf: file, encoding: .utf8)
        guard written != expected else { return }
        if ProcessInfo.processInfo.environment["UPDATE_DOCS"] == "1" {
            try expected.write(to: file, atomically: true, encoding: .utf8)
        } else {
            Issue.record("docs/state-machines.md is behind the machines; run this test with UPDATE_DOCS=1")
        }
    }

    @Test func everyStateThatIsReachedHasItsColumn() {
        for table in [StateTable.entry, .exchange, .gate, .reachability] {
            for state in table.states {
                for event in table.events {
                    let next = table[state, event].next
                    // A window that has grown or shrunk by one may be between two columns.
                    let between = ["open (3)", "unconfirmed (1)", "unconfirmed (3)"]
                    #expect(table.states.contains(next) || between.contains(next), "\(state), \(event): \(next)")
                }
            }
        }
    }

    // MARK: What the tables must say

    @Test func finalEntryChangesWithNoEvent() {
        let table = StateTable.entry
        for state in EntryState.allCases where state.isFinal {
            for event in table.events {
                let cell = table[state.rawValue, event]
                #expect(cell.next == state.rawValue, "\(event)")
                let isCommand = EntryCommand(rawValue: String(event.prefix { $0 != "," })) != nil
                #expect(cell.actions == (isCommand ? ["conflict"] : []), "\(event)")
            }
        }
    }

    @Test(arguments: ["held", "undecided (exhausted)", "undecided (maybeApplied)"])
    func stoppedEntryIsStartedOnlyByACommand(state: String) {
        let table = StateTable.entry
        let starting = table.events.filter { table[state, $0].actions.contains { $0.hasPrefix("start") } }
        #expect(starting == (state.contains("maybe") ? ["force, acknowledged"] : ["retry"]))
    }

    @Test func liveEntryEndsWithCancelOrDrain() {
        let table = StateTable.entry
        #expect(table.states.allSatisfy { state in table.events.allSatisfy { table[state, $0].next != "?" } })
        // These two commands end an entry in every state, except an attempt that may finish.
        for state in ["waiting", "waiting (shut)", "held", "undecided (exhausted)", "undecided (maybeApplied)"] {
            #expect(table[state, "cancel"].next == "cancelled")
            #expect(table[state, "drained"].next == "cancelled")
        }
        #expect(table["attempting", "drained"].next == "attempting")
    }

    @Test func onlyAFailureBeforeSendingShutsAGate() {
        let table = StateTable.gate
        for state in table.states where state.hasPrefix("open") {
            for event in table.events {
                let isShut = table[state, event].next.hasPrefix("shut")
                #expect(isShut == event.contains("before sending"), "\(state), \(event)")
            }
        }
        for event in table.events where event != "answered" && event != "connected" {
            #expect(table["shut, waiting", event].next.hasPrefix("shut"), "\(event)")
        }
    }

    @Test func offlineNothingIsProbed() {
        let table = StateTable.reachability
        for event in table.events where !event.hasPrefix("mode") {
            let cell = table["offline (admin)", event]
            #expect(cell.next == "offline (admin)" && !cell.actions.contains("probe"), "\(event)")
        }
    }

    private var repository: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
    }

    private static let introduction = """
        # State machines

        The rules of Layover are machines without a clock: facts go in with their time, actions come out. This page is
        made by a test that brings each machine into each state, tries each event on it and writes down what came of it,
        so it cannot say anything that is not so. The words are those of `vocabulary.md`; why the rules are what they are
        stands in `life-of-a-request.md`.

        A dot means that nothing changes. Diagrams show at most four events on an arrow; the tables have them all.


        """
}
