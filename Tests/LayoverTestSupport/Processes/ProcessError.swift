/// Why a process of a test did not do what it was started for.
package struct ProcessError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}
