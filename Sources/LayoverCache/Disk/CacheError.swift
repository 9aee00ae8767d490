/// Why the cache cannot work.
package struct CacheError: Error, Sendable, CustomStringConvertible {
    package enum Code: String, Sendable {
        /// Another process has the folder.
        case locked
        case io
        case closed
    }

    package var code: Code
    package var description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
