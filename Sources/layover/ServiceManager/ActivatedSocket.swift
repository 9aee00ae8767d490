import CLinux
import Foundation
import LayoverConfiguration

#if canImport(Glibc)
import Glibc
#endif

/// A socket that a service manager has bound and listens on (sd_listen_fds(3)): `proxy.listen` is then where it is.
struct ActivatedSocket {
    /// The error in the sockets that were given.
    struct Unusable: Error {
        var message: String
    }

    let descriptor: CInt
    let address: ListenAddress

    /// The first socket, or the one that is named `proxy`.
    ///
    /// - Returns: Nil: no socket was given to this process.
    static func given(
        _ environment: [String: String] = ProcessInfo.processInfo.environment, process: Int32 = getpid()
    ) throws(Unusable) -> ActivatedSocket? {
        guard let pid = environment.nonempty("LISTEN_PID"), Int32(pid) == process,
            let count = environment.nonempty("LISTEN_FDS").flatMap({ Int($0) }), count > 0
        else { return nil }
        let names = (environment["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
        let index = names.firstIndex(of: "proxy") ?? 0
        guard index < count, count < 1000 else { throw Unusable(message: "LISTEN_FDNAMES names more sockets than LISTEN_FDS") }
        let descriptor = CInt(3 + index)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return ActivatedSocket(descriptor: descriptor, address: try address(of: descriptor))
    }

    private static func address(of descriptor: CInt) throws(Unusable) -> ListenAddress {
        var (type, isListening) = (CInt(0), CInt(0))
        var length = socklen_t(MemoryLayout<CInt>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0, type == CInt(SOCK_STREAM.rawValue),
            getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) == 0, isListening == 1
        else { throw Unusable(message: "the socket of the service manager is no stream socket that listens") }
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        guard result == 0 else { throw Unusable(message: "the socket of the service manager has no address") }
        switch CInt(storage.ss_family) {
        case AF_UNIX: return .unix(path: unixPath(storage, size: Int(size)))
        case AF_INET, AF_INET6: return tcp(storage)
        default: throw Unusable(message: "the socket of the service manager is neither TCP nor a Unix socket")
        }
    }

    private static func unixPath(_ storage: sockaddr_storage, size: Int) -> String {
        withUnsafeBytes(of: storage) { bytes in
            let start = MemoryLayout<sa_family_t>.size
            let path = bytes[start..<max(start, size)]
            // An abstract one (unix(7)) has no file; it is written as in a unit file.
            if path.first == 0 { return "@" + String(decoding: path.dropFirst(), as: UTF8.self) }
            return String(decoding: path.prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    private static func tcp(_ storage: sockaddr_storage) -> ListenAddress {
        var storage = storage
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let port = withUnsafePointer(to: &storage) { pointer in
            if CInt(pointer.pointee.ss_family) == AF_INET {
                return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { address in
                    var host = address.pointee.sin_addr
                    inet_ntop(AF_INET, &host, &text, socklen_t(text.count))
                    return UInt16(bigEndian: address.pointee.sin_port)
                }
            }
            return pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                var host = address.pointee.sin6_addr
                inet_ntop(AF_INET6, &host, &text, socklen_t(text.count))
                return UInt16(bigEndian: address.pointee.sin6_port)
            }
        }
        let host = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        return .tcp(host: host, port: Int(port))
    }
}
