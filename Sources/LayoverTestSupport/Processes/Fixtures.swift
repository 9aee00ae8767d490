import Foundation

/// Finds the scripts in `Tests/Fixtures` from where this file lies in the checkout.
package enum Fixtures {
    package static func path(_ name: String) -> String {
        var folder = URL(fileURLWithPath: #filePath)
        for _ in 1...4 { folder.deleteLastPathComponent() }
        return folder.appendingPathComponent("Tests/Fixtures").appendingPathComponent(name).path
    }
}
