import CCurl
import Glibc

/// The state of libcurl that belongs to the whole process.
enum LibcurlGlobal {
    /// Initialises libcurl once (curl_global_init(3)); false when it cannot be used.
    ///
    /// SIGPIPE is ignored for the process: OpenSSL writes without MSG_NOSIGNAL, and `NOSIGNAL` tells
    /// libcurl to leave signals alone.
    static let isReady: Bool = {
        signal(SIGPIPE, SIG_IGN)
        return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
    }()
}
