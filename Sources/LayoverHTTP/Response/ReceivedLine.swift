/// One line as libcurl hands it over, with its end.
enum ReceivedLine {
    /// The line without its end, and whether the end is CRLF.
    ///
    /// libcurl would accept a lone LF everywhere. Layover accepts it only in heads of HTTP/1.0.
    @inline(__always)
    static func content(of line: UnsafeRawBufferPointer) throws(FramingError) -> (range: Range<Int>, endsWithCRLF: Bool) {
        guard line.last == ASCII.lineFeed else { throw .bareLineFeed }
        if line.count >= 2, line[line.count - 2] == ASCII.carriageReturn { return (0..<(line.count - 2), true) }
        return (0..<(line.count - 1), false)
    }

    /// The line without its CRLF.
    @inline(__always)
    static func contentOfStrictLine(of line: UnsafeRawBufferPointer) throws(FramingError) -> Range<Int> {
        let (range, endsWithCRLF) = try content(of: line)
        guard endsWithCRLF else { throw .bareLineFeed }
        return range
    }
}
