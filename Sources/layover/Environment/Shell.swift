import ArgumentParser
import Foundation

/// The shells that `env` writes for.
enum Shell: String, CaseIterable, ExpressibleByArgument {
    case bash, zsh, sh, dash, ksh
    case csh, tcsh
    case fish
    case pwsh

    /// The user's shell, by the environment. An unknown one is treated as a POSIX shell.
    init(environment: [String: String]) {
        let name = (environment["SHELL"] ?? "").split(separator: "/").last.map(String.init) ?? ""
        self = Shell(rawValue: name) ?? .sh
    }

    func setting(_ name: String, to value: String) -> String {
        switch self {
        case .bash, .zsh, .sh, .dash, .ksh: "export \(name)=\(quoted(value))"
        // The semicolon stays when `eval` joins the lines.
        case .csh, .tcsh: "setenv \(name) \(quoted(value));"
        case .fish: "set -gx \(name) \(quoted(value))"
        case .pwsh: "$env:\(name) = \(quoted(value))"
        }
    }

    func unsetting(_ name: String) -> String {
        switch self {
        case .bash, .zsh, .sh, .dash, .ksh: "unset \(name)"
        case .csh, .tcsh: "unsetenv \(name);"
        case .fish: "set -e \(name)"
        case .pwsh: "Remove-Item Env:\(name) -ErrorAction SilentlyContinue"
        }
    }

    private func quoted(_ text: String) -> String {
        switch self {
        case .bash, .zsh, .sh, .dash, .ksh: "'" + text.replacing("'", with: "'\\''") + "'"
        // A history reference is replaced in quotes too.
        case .csh, .tcsh: "'" + text.replacing("'", with: "'\\''").replacing("!", with: "\\!") + "'"
        case .fish: "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
        case .pwsh: "'" + text.replacing("'", with: "''") + "'"
        }
    }
}
