import Foundation
import LayoverCore
import LayoverEngine
import LayoverStore
import LayoverTestSupport
import Logging
import NIOCore
import Testing

extension StoreOptions {
    /// A store in a folder of a test, which says nothing.
    static func quiet(_ folder: String) -> StoreOptions {
        var options = StoreOptions(path: folder + "/layover.sqlite")
        options.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return options
    }
}

extension PendingStore {
    /// Fails the test unless all of them are done.
    func insert(_ numbers: ClosedRange<Int>, _ request: StoredRequest = .fixture()) async throws {
        let results = try await commit(numbers.map { .insert(.fixture($0), request, nil) })
        #expect(results.allSatisfy { $0 == .done })
    }
}

/// The thrown failure; records an issue if there was none.
func failure<Value>(
    _ location: SourceLocation = #_sourceLocation, of body: () async throws -> Value
) async -> StoreFailure? {
    do {
        _ = try await body()
        Issue.record("nothing failed", sourceLocation: location)
    } catch let failure as StoreFailure {
        return failure
    } catch {
        Issue.record("failed with \(error)", sourceLocation: location)
    }
    return nil
}

/// The bytes of all files under a folder.
func bytes(under folder: String) throws -> [String: Data] {
    var contents: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
        contents[name] = FileManager.default.contents(atPath: "\(folder)/\(name)")
    }
    return contents
}
