import Glibc
import LayoverTestSupport
import Synchronization

/// A UDP port of 127.0.0.1 that refuses questions. Its socket is connected elsewhere, so that nobody else is given the port, and the kernel
/// takes nothing for it (udp(7)).
final class MissingNameServer: Sendable {
    let port: Int
    private let descriptor: CInt

    init() throws {
        let descriptor = socket(AF_INET, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = LoopbackAddress.make(port: 0)
        var elsewhere = LoopbackAddress.make(port: 1)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let size = length
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) | getsockname(descriptor, $0, &length)
            }
        }
        let isElsewhere = withUnsafeMutablePointer(to: &elsewhere) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) == 0 }
        }
        guard descriptor >= 0, result == 0, isElsewhere else { throw RigError.noSocket }
        self.descriptor = descriptor
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(descriptor) }
}

/// A name server on a UDP port that does what the first label of a name says (RFC 1035
/// section 4.1).
final class ScriptedNameServer: Sendable {
    let port: Int
    private let descriptor: CInt
    private let questions = Mutex<[String]>([])

    /// Listens in the network namespace of the calling thread.
    init(address text: String = "127.0.0.1") throws {
        let descriptor = socket(AF_INET, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr(text)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) | getsockname(descriptor, $0, &length)
            }
        }
        guard descriptor >= 0, result == 0 else { throw RigError.noSocket }
        self.descriptor = descriptor
        port = Int(UInt16(bigEndian: address.sin_port))
        OriginThreads.start { [self] in answerAll() }
    }

    /// Names in the order in which they were asked for, whatever the type.
    var asked: [String] { questions.withLock { $0 } }

    func stop() { shutdown(descriptor, CInt(SHUT_RDWR)) }

    private func answerAll() {
        var query = [UInt8](repeating: 0, count: 512)
        while true {
            var sender = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            withUnsafeMutablePointer(to: &sender) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { sender in
                    let count = recvfrom(descriptor, &query, query.count, 0, sender, &length)
                    guard count > 12, let answer = answer(to: Array(query[..<count])) else { return }
                    sendto(descriptor, answer, answer.count, 0, sender, length)
                }
            }
            // A read that shutdown(2) wakes has no sender.
            if sender.sin_port == 0 { break }
        }
        close(descriptor)
    }

    private func answer(to query: [UInt8]) -> [UInt8]? {
        var labels: [String] = []
        var offset = 12
        while offset < query.count, query[offset] > 0 {
            let end = offset + 1 + Int(query[offset])
            guard end < query.count else { return nil }
            labels.append(String(decoding: query[(offset + 1)..<end], as: UTF8.self))
            offset = end
        }
        // The zero, type and class.
        guard offset + 5 <= query.count else { return nil }
        questions.withLock { $0.append(labels.joined(separator: ".")) }
        let isForIPv4 = query[offset + 2] == 1
        let code: UInt8
        switch labels.first {
        case "unknown": code = 3
        case "failing": code = 2
        case "refused": code = 5
        case "silent": return nil
        default: code = 0
        }
        let hasAddress = isForIPv4 && labels.first == "here"
        // A response; recursion was wished for and is available.
        var answer = query[..<2] + [0x81, 0x80 | code, 0, 1, 0, hasAddress ? 1 : 0, 0, 0, 0, 0]
        answer += query[12..<(offset + 5)]
        // The name by a pointer, type A, class IN, 60 s, 4 bytes.
        if hasAddress { answer += [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1] }
        return Array(answer)
    }
}
