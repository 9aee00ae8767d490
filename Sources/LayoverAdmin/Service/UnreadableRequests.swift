import Hummingbird
import NIOCore
import NIOHTTPTypes

/// Answers what the server cannot read as a request (RFC 9112) with a problem, like every other error.
///
/// Comes after the decoder. An error in the middle of a request is passed on to the reader of its body,
/// and the connection closes after the response; between requests there is no such reader, so this handler responds,
/// in its turn, and closes.
final class UnreadableRequests: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// How long an answered client has for its close. Default: 5 s.
    private static let lingerMax: TimeAmount = .seconds(5)

    /// Requests read whose response is not complete.
    private var unansweredCount = 0
    private var isInRequest = false
    /// Whether something came that is no request; nothing is read after it.
    private var isBroken = false
    /// Whether the response to it is still to be written.
    private var mustRefuse = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isBroken else { return }
        switch unwrapInboundIn(data) {
        case .head:
            unansweredCount += 1
            isInRequest = true
        case .body: break
        case .end: isInRequest = false
        }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        // A response without a request is dropped.
        guard unansweredCount > 0 else {
            promise?.succeed()
            return
        }
        guard case .end = unwrapOutboundIn(data) else { return context.write(data, promise: promise) }
        unansweredCount -= 1
        guard isBroken, unansweredCount == 0 else { return context.write(data, promise: promise) }
        if mustRefuse {
            context.write(data, promise: promise)
            refuse(context)
        } else {
            context.write(data, promise: promise)
            finish(context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // An error of the connection is not an unreadable request.
        guard !isBroken, !(error is IOError), !(error is ChannelError) else {
            return context.fireErrorCaught(error)
        }
        isBroken = true
        guard !isInRequest else { return context.fireErrorCaught(error) }
        mustRefuse = true
        if unansweredCount == 0 { refuse(context) }
    }

    private func refuse(_ context: ChannelHandlerContext) {
        var response = AdminProblem.unreadable.response(path: nil)
        AdminResponder.addSafetyFields(to: &response.headers)
        response.headers[.connection] = "close"
        let body = AdminProblem.unreadable.bytes(path: nil)
        response.headers[.contentLength] = "\(body.readableBytes)"
        context.write(wrapOutboundOut(.head(response.head)), promise: nil)
        context.write(wrapOutboundOut(.body(body)), promise: nil)
        context.write(wrapOutboundOut(.end(nil)), promise: nil)
        finish(context)
    }

    /// Closes our side, and then waits a little for the client's: closing both while bytes of its are unread
    /// would destroy the response on its way (RFC 9112 section 9.6).
    private func finish(_ context: ChannelHandlerContext) {
        context.flush()
        context.close(mode: .output, promise: nil)
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingerMax) { context.close(promise: nil) }
    }
}
