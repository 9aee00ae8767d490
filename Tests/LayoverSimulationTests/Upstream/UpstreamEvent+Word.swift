import LayoverEngine
import NIOCore

/// For the trace.
extension UpstreamEvent {
    var word: String {
        switch self {
        case .bodyWanted: "wants the body"
        case .bodyUnwanted: "takes no more of the body"
        case .endWithheld: "has all but the end, which waits for its request"
        case .complete: "is complete before its request"
        case .interim(let head): "says \(head.status)"
        case .head(let head, _): "answers \(head.status)"
        case .body(let bytes): "sends \(bytes.readableBytes) bytes"
        case .end: "is complete"
        case .failed(let failure): "fails: \(failure.kind.rawValue) \(failure.evidence.rawValue)"
        case .dialled: "stands"
        }
    }
}
