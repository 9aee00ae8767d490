import LayoverHTTP
import NIOCore
import Testing

struct ChunkWriterTests {
    @Test(arguments: [1, 9, 10, 15, 16, 17, 255, 256, 4_095, 4_096, 65_535, 65_536, 1_000_000])
    func writtenChunksAreReadBack(byteCount: Int) {
        let data = [UInt8](repeating: 0x61, count: byteCount)
        var out = ByteBuffer(string: AcceptedRequest.chunkedHead)
        ChunkWriter.writeChunk(ByteBuffer(bytes: data), into: &out)
        ChunkWriter.writeChunk(ByteBuffer(), into: &out)
        ChunkWriter.writeChunk(ByteBuffer(bytes: data), into: &out)
        ChunkWriter.writeLastChunk(trailers: ByteBuffer(string: "X: 1\r\n"), into: &out)
        let message = Transcript(of: Array(out.readableBytesView)).messages.first
        #expect(message?.body == data + data)
        #expect(message?.trailers == [.init(name: latin1("X"), value: latin1("1"))])
    }

    @Test func formIsTheShortestOne() {
        var out = ByteBuffer()
        ChunkWriter.writeChunk(ByteBuffer(string: "0123456789"), into: &out)
        ChunkWriter.writeChunkHead(byteCount: 0x1F0, into: &out)
        ChunkWriter.writeLastChunk(into: &out)
        #expect(String(buffer: out) == "a\r\n0123456789\r\n1f0\r\n0\r\n\r\n")
    }
}
