import LayoverCore
import LayoverEngine
import LayoverHTTP

/// A response that is held back while the engine says whether its request may be tried again.
///
/// What comes after the head waits here too. The worker pauses by itself when it is too much, because none
/// of it counts as taken.
struct OfferedResponse {
    let head: ResponseHead
    var rest: [UpstreamEvent] = []

    /// Whether nothing more will come of the attempt.
    var isOver: Bool {
        switch rest.last {
        case .end, .failed: true
        default: false
        }
    }
}
