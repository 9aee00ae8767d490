import LayoverHTTP
import Testing

/// Everything that we accept, NIO's decoder must read the same way: two parsers that disagree are
/// what request smuggling is made of.
struct DifferentialTests {
    @Test(arguments: AcceptedRequest.all)
    func acceptedRequestIsReadTheSameByNIO(request: AcceptedRequest) {
        let difference = NIOTranscript(of: request.bytes).difference(from: Transcript(of: request.bytes))
        #expect(difference == nil)
    }

    @Test(arguments: RefusedRequest.all)
    func bytesBeforeARefusalAreReadTheSameByNIO(request: RefusedRequest) {
        // A good request in front, so that there is something to compare.
        let bytes = AcceptedRequest.bodies[0].bytes + request.bytes
        let transcript = Transcript(of: bytes)
        #expect(transcript.messages.first?.isComplete == true)
        #expect(transcript.error != nil)
        #expect(NIOTranscript(of: bytes).difference(from: transcript) == nil)
    }
}
