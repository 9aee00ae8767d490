import LayoverTestSupport

@testable import LayoverCore
@testable import LayoverEngine
@testable import LayoverProxy

/// People who press everything.
extension Simulation {
    /// Live entries in the order of their arrival.
    var liveEntries: [Entry] {
        engine.assumeIsolated { $0.pending.entries.values.sorted { $0.sequence < $1.sequence } }
    }

    func command() {
        switch Int.random(in: 0..<20, using: &generator) {
        case ..<15: commandOne()
        case ..<17: commandAll()
        default: commandIncident()
        }
        if chance(50) { settle() } else { arriveSome() }
    }

    private func commandOne() {
        // Such entries are rare, and so is the right command for them.
        let asked = liveEntries.filter { $0.why == .maybeApplied }
        if let entry = asked.randomElement(using: &generator), chance(50) { return give(.force, to: entry) }
        let entries = liveEntries
        // People look at what asks for them first.
        if let asking = entries.first(where: { $0.why == .maybeApplied }), chance(60) {
            return give(
                [.force, .force, .force, .retry, .cancel, .settle].randomElement(using: &generator) ?? .force,
                to: asking)
        }
        guard let entry = entries.randomElement(using: &generator) else { return }
        // An attempt is under way for a short time only.
        if let entry = entries.filter({ $0.state == .attempting }).randomElement(using: &generator), chance(15) {
            return give(.abort, to: entry)
        }
        let weighed: [EntryCommand] = [.retry, .retry, .cancel, .hold, .release, .release, .force, .force, .settle]
        give(weighed.randomElement(using: &generator) ?? .retry, to: entry)
    }

    /// A person gives up what is being answered this very moment: the engine has not heard of the response yet.
    func cancelWhileAnswered(_ truth: RequestTruth) {
        guard let entry = liveEntries.first(where: { self.truth(of: $0) === truth }),
            engine.assumeIsolated({ ($0.exchanges[entry.id] as? Exchange)?.phase == .delivering })
        else { return }
        give(.cancel, to: entry)
    }

    func give(_ command: EntryCommand, to entry: Entry) {
        let acknowledges = command == .force && chance(60)
        let seesOldRevision = chance(8)
        let revision = seesOldRevision ? entry.revision - 1 : chance(50) ? entry.revision : nil
        let result = engine.assumeIsolated {
            $0.apply(
                command, entry.id, revision: revision, reason: "why not",
                acknowledgement: acknowledges ? EntryCommand.duplicateRisk : nil)
        }
        trace { "\(command.rawValue) of r\(self.truth(of: entry)?.number ?? 0): \(result.rawValue)" }
        referee.commanded(
            command, entry, result: result, acknowledged: acknowledges, seesOldRevision: seesOldRevision)
        referee.checkEngine()
    }

    private func commandAll() {
        let command =
            [EntryCommand.retry, .cancel, .hold, .release].randomElement(using: &generator) ?? .retry
        let entries = liveEntries.filter { _ in chance(60) }
        let results = engine.assumeIsolated { $0.apply(command, each: entries.map(\.id), reason: nil) }
        trace { "\(command.rawValue) of \(entries.count) at once" }
        for (entry, result) in zip(entries, results) {
            // The commands before it may have changed it: only what was done is of interest.
            if result == .done { referee.accepted(command, entry) }
        }
        referee.checkEngine()
    }

    private func commandIncident() {
        let lines = engine.assumeIsolated {
            $0.pending.incidents.states.values.sorted { $0.id.description < $1.id.description }
        }
        guard let line = lines.randomElement(using: &generator) else { return }
        let command: EntryCommand = chance(80) ? .retry : .cancel
        let members = liveEntries.filter { $0.incident == line.id }
        let result = engine.assumeIsolated { $0.apply(command, incident: line.id).0 }
        trace { "\(command.rawValue) of an incident of \(members.count): \(result.rawValue)" }
        for entry in members where entry.actions.contains(command) { referee.accepted(command, entry) }
        referee.checkEngine()
    }
}
