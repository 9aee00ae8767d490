/// One line as libcurl hands it over, with its end.
enum ReceivedLine {
    /// The line without its CRLF. libcurl would tolerate a lone LF; we do not (`LineCursor`).
    @inline(__always)
    static func content(of line: UnsafeRawBufferPointer) throws(FramingError) -> Range<Int> {
        guard line.count >= 2, line[line.count - 1] == ASCII.lineFeed,
            line[line.count - 2] == ASCII.carriageReturn
        else { throw .bareLineFeed }
        return 0..<(line.count - 2)
    }
}
