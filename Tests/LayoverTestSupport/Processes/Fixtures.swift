import Foundation

/// Finds the programs in `Tests/Fixtures` and `scripts` from where this file lies in the checkout.
package enum Fixtures {
    package static func path(_ name: String) -> String { path(of: name, in: "Tests/Fixtures") }

    package static func script(_ name: String) -> String { path(of: name, in: "scripts") }

    private static func path(of name: String, in part: String) -> String {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 1...4 { folder.deleteLastPathComponent() }
        return folder.appendingPathComponent(part).appendingPathComponent(name).path
    }
}
