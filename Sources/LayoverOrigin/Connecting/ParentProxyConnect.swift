import Glibc
import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// Asks a parent proxy for a connection to an origin (CONNECT, RFC 9110 section 9.3.6), and judges its response.
///
/// All connections that Layover uses itself are asked for here: those for tunnels, for upgrades and for the direct path. The channel
/// reaches the parent proxy, TLS with it included. The handler begins when the channel is active, reads by itself, and calls `answered`
/// once. With an open connection it has left the pipeline before that call, with anything else it closes the channel behind it.
/// Nothing of the request has left in either case. Confined to the event loop of its channel.
final class ParentProxyConnect: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Outcome {
        /// The origin is at the other end of the channel. `rest`: bytes that came behind the response. They are the origin's.
        case open(any Channel, rest: ByteBuffer)
        /// The parent proxy refused, answered with something that is no valid response, or did not answer in time.
        case failed(Failure)
        /// The connection ended before the response was complete, by this error. Nil: the parent proxy closed it.
        case lost((any Error)?)
    }

    private let origin: Origin
    private let parentProxy: ParentProxy
    private let fields: RequestFields
    private let remoteAddress: String?
    private let readyBy: NIODeadline
    /// Nil once it was called, or the caller has cancelled.
    private var answered: ((Outcome) -> Void)?
    private var context: ChannelHandlerContext?
    private var hasAsked = false
    private var timeout: Scheduled<Void>?
    /// With the default limits: nothing of the response is passed on, so no setting needs to allow more.
    private var decoder = ResponseDecoder()
    private var input = ByteBuffer()

    /// - Parameters:
    ///   - fields: The fields of the request that the connection is for. CONNECT carries their `Via`.
    ///   - remoteAddress: Address of the parent proxy, for the failure.
    ///   - readyBy: When the response must be complete.
    init(
        to origin: Origin, through parentProxy: ParentProxy, fields: RequestFields, remoteAddress: String?, readyBy: NIODeadline,
        answered: @escaping (Outcome) -> Void
    ) {
        self.origin = origin
        self.parentProxy = parentProxy
        self.fields = fields
        self.remoteAddress = remoteAddress
        self.readyBy = readyBy
        self.answered = answered
    }

    /// Closes the channel. There is no outcome.
    func cancel() {
        timeout?.cancel()
        answered = nil
        context?.close(promise: nil)
    }

    // MARK: The request

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { ask(context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        ask(context)
        context.fireChannelActive()
    }

    private func ask(_ context: ChannelHandlerContext) {
        guard answered != nil else { return context.close(promise: nil) }
        guard !hasAsked else { return }
        hasAsked = true
        var head = ByteBuffer()
        RequestHeadWriter.writeConnect(to: origin, through: parentProxy, fields: fields, into: &head)
        decoder.reset(isHeadRequest: false, isConnect: true)
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        timeout = context.eventLoop.scheduleTask(deadline: readyBy) { bound.value.timedOut() }
        // With a read under way, the channel reads what has come before it closes for a failed write (`BaseSocketChannel.flushNow`).
        context.read()
        context.writeAndFlush(wrapOutboundOut(head), promise: nil)
    }

    private func timedOut() { end(.failed(failure.timedOutAtParentProxy)) }

    // MARK: The response

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard answered != nil else { return }
        var bytes = unwrapInboundIn(data)
        input.writeBuffer(&bytes)
        do throws(FramingError) {
            while answered != nil, let event = try decoder.next(&input) {
                // RFC 9110 section 15.2: interim responses precede the final one.
                guard case .head(let head) = event, !head.isInterim else { continue }
                return head.status / 100 == 2 ? opened(context) : refused(head)
            }
        } catch {
            end(.failed(failure.misansweredByParentProxy(Self.text(of: error, parentProxy))))
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if answered != nil { context.read() }
    }

    private func opened(_ context: ChannelHandlerContext) {
        timeout?.cancel()
        let (answered, channel, rest) = (answered, context.channel, input)
        self.answered = nil
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        answered?(.open(channel, rest: rest))
    }

    private func refused(_ head: ResponseHead) {
        if head.reportsLoop { return end(.failed(failure.loopOfParentProxies)) }
        end(.failed(failure.refusedByParentProxy(head.status, retryAfter: head.retryAfter(now: time(nil)))))
    }

    private static func text(of error: FramingError, _ parentProxy: ParentProxy) -> String {
        switch error {
        case .isNoHTTP: return Failure.parentProxyIsNoHTTP
        case .isHTTP2: return "The parent proxy answered CONNECT in HTTP/2, and was asked in HTTP/1.1."
        case .isTLS where !parentProxy.isSecure:
            return "The parent proxy answered CONNECT with an alert of TLS. Its URL may have to begin with https."
        case .isTLS: return Failure.parentProxyIsNoHTTP
        case .unexpectedUpgrade: return "The parent proxy answered CONNECT with a change of the protocol (status 101)."
        case .tooManyInterimHeads: return "The parent proxy answered CONNECT with too many interim responses."
        default:
            if error.isSizeOfHead { return Failure.parentProxyResponseTooLarge }
            return "The parent proxy does not answer CONNECT by the rules of HTTP: \(error.reason)"
        }
    }

    // MARK: The end

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { return end(.lost(nil)) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end(.lost(error))
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(.lost(nil))
        context.fireChannelInactive()
    }

    private func end(_ outcome: Outcome) {
        guard let answered else { return }
        let context = context
        timeout?.cancel()
        self.answered = nil
        answered(outcome)
        context?.close(promise: nil)
    }

    private var failure: Failure {
        Failure(
            phase: .connecting, kind: .connectionTerminated, evidence: .neverSent,
            message: "The parent proxy did not open the connection to the origin.",
            localAddress: context?.channel.localAddress?.ipAddress, remoteAddress: remoteAddress)
    }
}

extension ResponseHead {
    /// Whether a proxy says that it got its own request back: the error type `proxy_loop_detected` (RFC 9209 section 2.3).
    fileprivate var reportsLoop: Bool {
        let fields = self.fields()
        return fields.values(.proxyStatus).contains { value in
            Self.outsideStrings(fields.string(value)).split { $0 == ";" || $0 == "," || $0 == " " }
                .contains { $0 == "error=proxy_loop_detected" }
        }
    }

    /// A structured field without its strings (RFC 9651 section 3.3.3): `details` may repeat the words of others.
    private static func outsideStrings(_ value: String) -> String {
        var (isInString, isEscaped) = (false, false)
        return value.filter { character in
            if isEscaped {
                isEscaped = false
            } else if isInString, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isInString.toggle()
            } else {
                return !isInString
            }
            return false
        }
    }
}
