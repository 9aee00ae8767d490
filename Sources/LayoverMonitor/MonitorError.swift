import Glibc

/// Something that the monitor needs from the system and cannot have.
package struct MonitorError: Error, CustomStringConvertible {
    package var context: String
    package var code: Int32

    init(context: String, code: Int32 = errno) {
        self.context = context
        self.code = code
    }

    package var description: String { "\(context) (\(String(cString: strerror(code))))" }
}
