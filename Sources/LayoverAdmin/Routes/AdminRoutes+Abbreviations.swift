import Hummingbird
import LayoverCore
import LayoverEngine

/// Entries by the beginning of their ids. Only for reading: a command must name its entry in full.
extension AdminRoutes {
    /// The entry whose id is in the path, or the only one whose shown id begins so.
    func entryByPrefix(_ context: AdminContext) async throws -> Entry {
        guard let text = context.parameters.get("id"), let prefix = EntryIDPrefix(text) else {
            return try await entry(context)
        }
        var found: [Entry] = []
        var count = 0
        do throws(StoreFailure) {
            let ids = try await engine.entryIDs(shownWith: prefix)
            count = ids.count
            // One that was removed in between is no match.
            if count <= Problem.namedIDCountMax {
                for id in ids { if let entry = try await engine.knownEntry(id) { found.append(entry) } }
            }
        } catch {
            throw Problem.store(error)
        }
        if count > Problem.namedIDCountMax { throw Problem.ambiguousID(prefix, count, []) }
        guard let entry = found.first else { throw Problem.unknownPrefix(prefix) }
        guard found.count == 1 else {
            throw Problem.ambiguousID(prefix, found.count, found.map { engine.naming.shown($0.id).description })
        }
        return entry
    }
}

extension Problem {
    /// Most ids that are named where a prefix is ambiguous.
    fileprivate static let namedIDCountMax = 4

    fileprivate static func unknownPrefix(_ prefix: EntryIDPrefix) -> Problem {
        var problem = unknownEntry
        problem.detail = "No request has an id that begins with \(prefix)."
        return problem
    }

    fileprivate static func ambiguousID(_ prefix: EntryIDPrefix, _ count: Int, _ ids: [String]) -> Problem {
        let named = ids.isEmpty ? "" : ": " + ids.sorted().joined(separator: ", ")
        return Problem(
            409, "ambiguous_id", title: "Ambiguous id",
            detail: "\(count) requests have ids that begin with \(prefix)\(named). Give more digits.")
    }
}
