/// Names of methods and fields: tokens (RFC 9110 section 5.6.2).
package enum Token {
    package static func isToken(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(ByteClass.isToken) }
}
