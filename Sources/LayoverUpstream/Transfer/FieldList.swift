import CCurl
import Glibc
import LayoverEngine
import LayoverHTTP
import NIOCore

/// The field lines of one request as libcurl takes them (CURLOPT_HTTPHEADER), in memory that is used
/// again for the next request, so that nothing is allocated per field.
///
/// libcurl takes `Name: value`, and drops a line that has nothing behind its colon: an empty value is spelled `Name;`.
/// This file alone knows of that spelling.
struct FieldList {
    private var bytes: UnsafeMutableRawBufferPointer
    private var nodes: UnsafeMutableBufferPointer<curl_slist>
    private var nodeCount = 0
    private var byteCount = 0

    init() {
        bytes = .allocate(byteCount: 2048, alignment: 1)
        nodes = .allocate(capacity: 48)
    }

    func deallocate() {
        bytes.deallocate()
        nodes.deallocate()
    }

    /// - Parameters:
    ///   - expectsContinue: Whether `Expect: 100-continue` is to be sent.
    ///   - framesChunks: Whether chunks are framed here. Otherwise libcurl does it where the connection needs it: HTTP/2 has none.
    /// - Returns: The first node; valid until the next call.
    mutating func fill(
        host: String, fields: RequestFields, framing: BodyFraming, expectsContinue: Bool, framesChunks: Bool
    ) -> UnsafeMutablePointer<curl_slist>? {
        nodeCount = 0
        byteCount = 0
        var host = host
        let hostByteCount = host.utf8.count
        reserve(bytes: hostByteCount + fields.byteCount + 128)
        write("Host: ")
        host.withUTF8 { write(UnsafeRawBufferPointer($0)) }
        writeTerminator()
        write(framing, expectsContinue: expectsContinue, framesChunks: framesChunks)
        let fieldsStart = byteCount
        fields.lines.withUnsafeReadableBytes { write($0) }
        // Were the last NUL missing, libcurl would read on behind the lines.
        writeTerminator()
        addLines(fieldsStart: fieldsStart, passesExpect: !framing.hasBody)
        // A line without a value keeps libcurl from adding a field of its own. Behind one of the client
        // it has no effect: the first line of a name decides.
        add(Self.noExpect)
        add(Self.noAccept)
        nodes[nodeCount - 1].next = nil
        return nodes.baseAddress
    }

    /// Fills the list with the Via field of a request, for the CONNECT to its parent proxy (CURLOPT_PROXYHEADER).
    ///
    /// - Returns: The first node, valid until the next call. Nil: the request has no such field.
    mutating func fillVia(of fields: RequestFields) -> UnsafeMutablePointer<curl_slist>? {
        nodeCount = 0
        byteCount = 0
        reserve(bytes: fields.byteCount + 1)
        for field in fields where field.isNamed("via") {
            field.line.withUnsafeReadableBytes { write($0) }
            writeTerminator()
        }
        addLines(fieldsStart: 0, passesExpect: false)
        guard nodeCount > 0 else { return nil }
        nodes[nodeCount - 1].next = nil
        return nodes.baseAddress
    }

    // MARK: Parts

    private static let noExpect: StaticString = "Expect:"
    private static let noAccept: StaticString = "Accept:"

    private mutating func write(_ text: StaticString) {
        write(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func writeTerminator() {
        bytes[byteCount] = 0
        byteCount += 1
    }

    private mutating func reserve(bytes count: Int) {
        guard count > bytes.count else { return }
        bytes.deallocate()
        bytes = .allocate(byteCount: count + count / 2, alignment: 1)
    }

    private mutating func write(_ source: UnsafeRawBufferPointer) {
        guard source.count > 0 else { return }
        UnsafeMutableRawBufferPointer(rebasing: bytes[byteCount..<byteCount + source.count])
            .copyMemory(from: source)
        byteCount += source.count
    }

    /// Writes the framing field where libcurl must not write it by itself.
    ///
    /// Chunks are framed by `ChunkedReader`, so libcurl must not frame them. libcurl decides by the first line with the name
    /// `Transfer-Encoding`. A first line without a value keeps it from framing, and is not sent.
    ///
    /// `Expect` is hidden: it follows the framing field in what libcurl sees as one line. If libcurl knew of the expectation, it would
    /// repeat the request by itself after a 417 and drop the body of the 417 (7.88.1). `Transfer` waits for the 100 instead.
    private mutating func write(_ framing: BodyFraming, expectsContinue: Bool, framesChunks: Bool) {
        switch framing {
        case .length(let count) where expectsContinue:
            write("Content-Length: ")
            var digits = String(count)
            digits.withUTF8 { write(UnsafeRawBufferPointer($0)) }
        case .chunked:
            if framesChunks {
                write("Transfer-Encoding:")
                writeTerminator()
            }
            write("Transfer-Encoding: chunked")
        case .length, .none: return
        }
        if expectsContinue { write("\r\nExpect: 100-continue") }
        writeTerminator()
    }

    /// Points a node at each line.
    ///
    /// - Parameters:
    ///   - fieldsStart: Offset of the fields of the request. Lines without a value before it are for libcurl and stay unchanged.
    ///   - passesExpect: Whether `Expect` is a field like any other: libcurl waits for nothing where there is no body.
    private mutating func addLines(fieldsStart: Int, passesExpect: Bool) {
        guard let start = bytes.baseAddress else { return }
        var offset = 0
        while offset < byteCount, let end = memchr(start + offset, 0, byteCount - offset) {
            let line = start + offset
            let next = UnsafeRawPointer(end) - UnsafeRawPointer(start) + 1
            if next - offset > 1, !Self.isExpect(line) || passesExpect && Self.isContinue(line) {
                if offset >= fieldsStart { spellIfEmpty(offset..<next - 1) }
                add(UnsafeRawPointer(line).assumingMemoryBound(to: CChar.self))
            }
            offset = next
        }
    }

    /// Turns `Name: ` into `Name;` where it stands. Most lines cost a look at their last byte.
    private func spellIfEmpty(_ line: Range<Int>) {
        guard Self.mayEndLineWithoutValue(bytes[line.upperBound - 1]) else { return }
        var end = line.upperBound
        while end > line.lowerBound, bytes[end - 1] != UInt8(ascii: ":"), Self.mayEndLineWithoutValue(bytes[end - 1]) { end -= 1 }
        // The first colon ends the name: one at the end of a value has another before it.
        guard end - line.lowerBound > 1, bytes[line.lowerBound..<end].firstIndex(of: UInt8(ascii: ":")) == end - 1 else { return }
        bytes[end - 1] = UInt8(ascii: ";")
        bytes[end] = 0
    }

    /// A colon, or what libcurl takes for white space.
    private static func mayEndLineWithoutValue(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ":") || byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    /// Whether a line, NUL-terminated, is an Expect field.
    private static func isExpect(_ line: UnsafeMutableRawPointer) -> Bool {
        guard line.load(as: UInt8.self) | 0x20 == UInt8(ascii: "e") else { return false }
        let text = UnsafeRawPointer(line).assumingMemoryBound(to: CChar.self)
        return strncasecmp(text, "expect:", 7) == 0
    }

    private static func isContinue(_ line: UnsafeMutableRawPointer) -> Bool {
        let wanted = "expect: 100-continue"
        return strncasecmp(UnsafeRawPointer(line).assumingMemoryBound(to: CChar.self), wanted, wanted.utf8.count) == 0
    }

    private mutating func add(_ line: StaticString) {
        add(UnsafeRawPointer(line.utf8Start).assumingMemoryBound(to: CChar.self))
    }

    private mutating func add(_ line: UnsafePointer<CChar>) {
        if nodeCount == nodes.count { growNodes() }
        // libcurl does not write to the lines (CURLOPT_HTTPHEADER(3)); the type is only not const.
        nodes[nodeCount] = curl_slist(data: UnsafeMutablePointer(mutating: line), next: nil)
        if nodeCount > 0 { nodes[nodeCount - 1].next = nodes.baseAddress.map { $0 + nodeCount } }
        nodeCount += 1
    }

    private mutating func growNodes() {
        let larger = UnsafeMutableBufferPointer<curl_slist>.allocate(capacity: nodes.count * 2)
        for index in 0..<nodeCount {
            larger[index] = nodes[index]
            larger[index].next = larger.baseAddress.map { $0 + index + 1 }
        }
        nodes.deallocate()
        nodes = larger
    }
}
