import ArgumentParser
import Foundation

/// The shells that `env` writes for.
enum Shell: String, CaseIterable, ExpressibleByArgument {
    /// And every other shell with `export`.
    case bash
    case fish
    case pwsh

    /// The user's shell, by the environment.
    init(environment: [String: String]) {
        let name = (environment["SHELL"] ?? "").split(separator: "/").last.map(String.init) ?? ""
        self = Shell(rawValue: name) ?? .bash
    }

    func setting(_ name: String, to value: String) -> String {
        switch self {
        case .bash: "export \(name)=\(quoted(value))"
        case .fish: "set -gx \(name) \(quoted(value))"
        case .pwsh: "$env:\(name) = \(quoted(value))"
        }
    }

    func unsetting(_ name: String) -> String {
        switch self {
        case .bash: "unset \(name)"
        case .fish: "set -e \(name)"
        case .pwsh: "Remove-Item Env:\(name) -ErrorAction SilentlyContinue"
        }
    }

    private func quoted(_ text: String) -> String {
        switch self {
        case .bash: "'" + text.replacing("'", with: "'\\''") + "'"
        case .fish: "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
        case .pwsh: "'" + text.replacing("'", with: "''") + "'"
        }
    }
}
