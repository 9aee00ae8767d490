import LayoverTestSupport

/// A server that answers each request at once, with what it was told for now.
final class ScriptedServer: Sendable {
    private struct State: Sendable {
        var trouble: Trouble?
        var requests: [String] = []
    }

    private let state: Watched<State>

    init(trouble: Trouble? = .offline) { state = Watched(State(trouble: trouble)) }

    var requests: [String] { state.value.requests }

    func fail(with trouble: Trouble) { state.update { $0.trouble = trouble } }
    func recover() { state.update { $0.trouble = nil } }

    func get(_ path: String) async throws -> String {
        state.update { $0.requests.append(path) }
        if let trouble = state.value.trouble { throw trouble }
        return "page \(path)"
    }

    func requests(_ count: Int) async throws {
        try await state.wait("\(count) requests") { $0.requests.count >= count }
    }
}
