import CCurl
import LayoverCore

/// One entry of CURLOPT_RESOLVE(3), in memory that is used again. It must stay until libcurl has read it.
struct ResolveEntry {
    enum Content {
        /// Puts addresses into libcurl's cache, in place of whatever is there. They leave it after
        /// DNS_CACHE_TIMEOUT (the plus sign); without one they would stay for ever.
        case addresses(String)
        /// Takes them out.
        case removal
    }

    private var bytes: UnsafeMutableBufferPointer<CChar>
    private let node: UnsafeMutablePointer<curl_slist>

    init() {
        bytes = .allocate(capacity: 512)
        node = .allocate(capacity: 1)
        node.initialize(to: curl_slist(data: nil, next: nil))
    }

    func deallocate() {
        bytes.deallocate()
        node.deallocate()
    }

    /// - Returns: A list of this entry; valid until the next call.
    mutating func fill(_ content: Content, for origin: Origin) -> UnsafeMutablePointer<curl_slist> {
        let text: String
        switch content {
        case .addresses(let addresses): text = "+\(origin.host):\(origin.port):\(addresses)"
        case .removal: text = "-\(origin.host):\(origin.port)"
        }
        let count = text.utf8.count
        if count >= bytes.count {
            bytes.deallocate()
            bytes = .allocate(capacity: count + 1)
        }
        for (index, byte) in text.utf8.enumerated() { bytes[index] = CChar(bitPattern: byte) }
        bytes[count] = 0
        node.pointee.data = bytes.baseAddress
        return node
    }
}
