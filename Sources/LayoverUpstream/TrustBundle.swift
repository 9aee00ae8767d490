import CCurl
import Glibc

/// The certificates that origins are verified against: the system's, and those of `tls.caFile`.
///
/// libcurl parses them once for each multi handle and keeps the result, but only as long as they come
/// from one *file* (7.88.1 never caches a blob or a folder; parsing the system's takes milliseconds for
/// each connection). So the two are joined in a nameless file in memory.
final class TrustBundle: Sendable {
    /// What CURLOPT_CAINFO gets; nil leaves libcurl's own defaults alone.
    let path: String?
    private let descriptor: CInt

    init(caFile: String?) throws(UpstreamError) {
        let system = Self.systemBundle
        guard let caFile else {
            path = system
            descriptor = -1
            return
        }
        guard let own = Self.bytes(ofFile: caFile) else {
            throw UpstreamError(
                code: .caFileUnreadable, context: "The file of trusted certificates (tls.caFile) cannot be read.",
                osError: errno)
        }
        var joined = system.flatMap { Self.bytes(ofFile: $0) } ?? []
        // A file that lacks its last line end must not swallow the next BEGIN line.
        joined.append(UInt8(ascii: "\n"))
        joined.append(contentsOf: own)
        descriptor = layover_memfd("layover-trust")
        guard descriptor >= 0, Self.write(joined, to: descriptor) else {
            let code = errno
            if descriptor >= 0 { close(descriptor) }
            throw UpstreamError(
                code: .outOfResources, context: "The trusted certificates cannot be combined.",
                osError: code)
        }
        path = "/proc/self/fd/\(descriptor)"
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// The bundle that libcurl was built for, or Debian's if libcurl names none. Nil: the file cannot be read.
    private static var systemBundle: String? {
        let built = curl_version_info(CURLVERSION_SEVENTH).pointee.cainfo.map { String(cString: $0) }
        let path = built ?? "/etc/ssl/certs/ca-certificates.crt"
        return access(path, R_OK) == 0 ? path : nil
    }

    private static func bytes(ofFile path: String) -> [UInt8]? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = fread(&piece, 1, piece.count, file)
            if count == 0 { return ferror(file) == 0 ? bytes : nil }
            bytes.append(contentsOf: piece[..<count])
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: CInt) -> Bool {
        bytes.withUnsafeBytes { source in
            var done = 0
            while done < source.count {
                let count = Glibc.write(descriptor, source.baseAddress.map { $0 + done }, source.count - done)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                done += count
            }
            return true
        }
    }
}
