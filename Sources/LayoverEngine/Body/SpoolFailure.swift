#if canImport(Glibc)
import Glibc
#endif

/// Why a body could not be kept in the spool.
package enum SpoolFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// `limits.spoolTotal` is reached. Bytes.
    case limit(Int)
    /// The system said no, by its errno.
    case system(Int32)

    /// A complete sentence.
    package var description: String {
        switch self {
        case .limit(let count): "The spool is full: limits.spoolTotal (\(count) bytes) is reached."
        case .system(let code): "The spool could not be written (store.spool): \(String(cString: strerror(code)))."
        }
    }
}
