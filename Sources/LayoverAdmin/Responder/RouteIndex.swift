import HTTPTypes
import Hummingbird

/// The methods of each path, so that a wrong method is a 405 and a wrong path a 404.
struct RouteIndex: Sendable {
    /// Segments; nil matches any one.
    private struct Route: Sendable {
        var segments: [Substring?]
        var method: HTTPRequest.Method

        func matches(_ path: [Substring]) -> Bool {
            segments.count == path.count && zip(segments, path).allSatisfy { $0 == nil || $0 == $1 }
        }
    }

    private let routes: [Route]

    init(_ routes: [Router<AdminContext>.RouteDescription]) {
        self.routes = routes.map { route in
            let segments = route.path.description.split(separator: "/")
            let isFixed = { (segment: Substring) in !segment.hasPrefix(":") && !segment.hasPrefix("{") }
            return Route(segments: segments.map { isFixed($0) ? $0 : nil }, method: route.method)
        }
    }

    func check(method: HTTPRequest.Method, path: String) throws(Problem) {
        let segments = path.split(separator: "/")
        let found = routes.filter { $0.matches(segments) }
        // A fixed path hides the one with a parameter in its place.
        let fewest = found.map { $0.segments.count { $0 == nil } }.min()
        let methods = found.filter { $0.segments.count { $0 == nil } == fewest }.map(\.method)
        guard !methods.isEmpty else { throw .notFound }
        // HEAD is served wherever GET is.
        guard !methods.contains(method), !(method == .head && methods.contains(.get)) else { return }
        var names = Set(methods.map(\.rawValue))
        if names.contains("GET") { names.insert("HEAD") }
        throw .methodNotAllowed(names.sorted())
    }
}
