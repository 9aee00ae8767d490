import Glibc
import LayoverTestSupport

/// Makes getaddrinfo(3), on the calling thread only, ask a name server of the test's choice.
///
/// glibc keeps the state of its resolver by thread and lets programs change it (resolver(3)); Swift's Glibc
/// module does not show it.
enum ResolverOfThread {
    private typealias Initialise = @convention(c) () -> CInt
    private typealias State = @convention(c) () -> UnsafeMutableRawPointer?

    /// - Parameter patience: Seconds that it waits for the answer to its only question. Default: so many that a busy server is in time.
    static func ask(_ address: String = "127.0.0.1", port: Int, patience: CInt = 15) throws {
        guard let initialise = dlsym(nil, "__res_init"), let find = dlsym(nil, "__res_state"),
            unsafeBitCast(initialise, to: Initialise.self)() == 0,
            let state = unsafeBitCast(find, to: State.self)()
        else { throw ProcessError("This system's resolver cannot be set up by thread.") }
        // struct __res_state of <resolv.h>: seconds to wait, tries, options, servers.
        state.storeBytes(of: patience, toByteOffset: 0, as: CInt.self)
        state.storeBytes(of: 1, toByteOffset: 4, as: CInt.self)
        state.storeBytes(of: 1, toByteOffset: 16, as: CInt.self)
        var server = sockaddr_in()
        server.sin_family = sa_family_t(AF_INET)
        server.sin_addr.s_addr = inet_addr(address)
        server.sin_port = in_port_t(port).bigEndian
        withUnsafeBytes(of: &server) { (state + 20).copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
    }
}
