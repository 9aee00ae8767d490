import Foundation
import LayoverConfiguration

/// `proxy.users` in the configuration file, for the commands that change it.
struct UsersFile {
    /// As it was named, or found.
    let name: String
    private let rewriting: ConfigurationRewriting
    private let text: ConfigurationText
    private let options: ConfigurationOptions

    init(_ options: ConfigurationOptions) throws {
        guard let name = options.layers().file else {
            throw CommandFailure(
                code: .usage, message: "there is no configuration file; write {} into a file, and name it with --config FILE")
        }
        self.name = name
        self.options = options
        do {
            rewriting = try ConfigurationRewriting(name)
            text = try ConfigurationText(rewriting.bytes)
        } catch let error as ConfigurationError {
            throw CommandFailure(code: .usage, message: Self.sentence(error))
        } catch {
            throw CommandFailure(code: .usage, message: "\(name): \(error)")
        }
    }

    /// - Throws: If `proxy.users` is no object.
    var users: [String: JSONValue] {
        get throws(CommandFailure) {
            switch text.users {
            case nil, .null?: return [:]
            case .object(let users)?: return users
            case let other?: throw CommandFailure(code: .usage, message: "\(name): proxy.users: expected an object, not \(other.kind)")
            }
        }
    }

    /// Writes the users back, unless the configuration would be wrong with them that was right before.
    func write(_ users: [String: JSONValue]) throws {
        var changed = text
        do {
            try changed.setUsers(users)
            let before = Set(complaints(about: rewriting.path))
            try rewriting.replace(with: changed.bytes) { draft in
                if let new = complaints(about: draft).first(where: { !before.contains($0) }) {
                    throw CommandFailure(code: .usage, message: "nothing was changed: \(new)")
                }
            }
        } catch let error as ConfigurationError {
            throw CommandFailure(code: .usage, message: Self.sentence(error))
        } catch let error as JSONSyntaxError {
            throw CommandFailure(code: .usage, message: "\(name): \(error)")
        }
    }

    /// What else has to be known once the file is written.
    func advise() {
        if rewriting.isReadableByEverybody {
            StandardError.warning("everybody on this machine can read the password hashes: chmod o-r \(name)")
        }
        guard let loaded = try? options.layers().load(), case .environment(let variable)? = loaded.sources["proxy.users"] else { return }
        StandardError.warning("\(variable) is set, and its users count instead of those of the file")
    }

    private func complaints(about file: String) -> [String] {
        let source = ConfigurationSource(file: file, environment: ProcessInfo.processInfo.environment, overrides: [:])
        do throws(ConfigurationErrors) {
            _ = try source.load()
            return []
        } catch {
            return error.errors.map { $0.path.isEmpty ? $0.message : "\($0.path): \($0.message)" }
        }
    }

    /// Without the full stop.
    private static func sentence(_ error: ConfigurationError) -> String { "\(error.source): \(error.message)" }
}
