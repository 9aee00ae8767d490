import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// Reading while the origin cannot be reached (policy `cache: staleIfError`).
extension ProxyExchange {
    // MARK: Keeping

    /// An answer of the origin is being passed on.
    func keepInCache(_ head: ResponseHead) {
        guard let turn = caching else { return }
        caching?.writer = turn.cache.answered(
            head, to: request.cacheRequest,
            at: CacheTimes(requestedAt: turn.requestedAt, answeredAt: loop.wallSeconds))
    }

    // MARK: Looking

    /// Looks before any attempt, where the client wants nothing else.
    ///
    /// - Returns: False where it is not to be looked for.
    func looksInstead() -> Bool {
        guard caching?.isReadable == true, request.isOnlyIfCached else { return false }
        // Where no other request would be sent either, it gets what the others get.
        let isAway = loop.notice(for: request.origin) == .shut
        look(isAway ? .unreachable : .onlyIfCached) { [self] in
            fail(
                Problem(
                    status: 504, kind: "only_if_cached", detail: "The client asks for a cached response, and there is none.",
                    error: .httpRequestDenied))
        }
        return true
    }

    /// Looks because the origin cannot be reached, once in its life.
    ///
    /// - Parameter orElse: What is to be done when there is nothing to give.
    func looksInCache(orElse: @escaping () -> Void) -> Bool {
        guard let turn = caching, turn.isReadable, !turn.hasLooked, connection != nil else { return false }
        look(.unreachable, orElse: orElse)
        return true
    }

    private func look(_ occasion: CacheOccasion, orElse: @escaping () -> Void) {
        guard let cache = caching?.cache else { return }
        caching?.hasLooked = true
        phase = .searching(.cache)
        // Called on the loop, where it came from.
        nonisolated(unsafe) let orElse = orElse
        cache.lookup(request.cacheRequest, occasion, now: loop.wallSeconds) { [self] found in
            loop.eventLoop.execute {
                guard self.phase == .searching(.cache) else { return }
                if case .found(let answer) = found { self.serve(answer, occasion) } else { orElse() }
            }
        }
    }

    // MARK: Giving

    private func serve(_ cached: CachedAnswer, _ occasion: CacheOccasion) {
        guard let connection else { return ended(as: .cancelled) }
        phase = .delivering
        loop.metrics.countAnswer(status: cached.head.status)
        framing = cached.body == nil ? .none : .length
        saysClose = !keepsAlive
        connection.write(head(of: cached, occasion))
        if cached.isStale { refresh(cached.refresh) }
        guard let body = cached.body else { return served(isWhole: true) }
        let sending = CachedBodySending(body, loop: loop, connection: connection) { [weak self] in
            self?.served(isWhole: $0)
        }
        caching?.sending = sending
        sending.goOn()
        connection.flushNow()
    }

    private func head(of cached: CachedAnswer, _ occasion: CacheOccasion) -> ByteBuffer {
        var out = client.isOnOwnOrigin ? OwnOrigin.guarding(cached.head.bytes) : cached.head.bytes
        out.writeStaticString("Via: ")
        out.writeBytes(loop.planner.viaMember)
        let identity = loop.rules.identity
        out.writeString("\r\nCache-Status: \(cached.cacheStatus(identity: identity))\r\n")
        // A fresh one, too, stands in for an origin that cannot be reached.
        if cached.isStale || occasion == .unreachable {
            let error = lastFailure?.kind.errorType ?? FailureKind.destinationUnavailable.rawValue
            out.writeString("Proxy-Status: \(identity); error=\(error); details=\"answered from the cache\"\r\n")
        }
        if let body = cached.body { out.writeString("Content-Length: \(body.byteCount)\r\n") }
        if saysClose { out.writeStaticString("Connection: close\r\n") }
        out.writeStaticString("\r\n")
        return out
    }

    private func served(isWhole: Bool) {
        caching?.sending = nil
        ended(as: isWhole ? .delivered : .failed)
        guard let connection else { return }
        if isWhole {
            connection.exchangeFinished(keepsAlive: keepsAlive && !saysClose)
            connection.flushNow()
        } else {
            connection.breakOff(isCloseDelimited: false)
        }
    }

    /// Asks the origin anew once it can be reached, so that the next reader gets what is new.
    private func refresh(_ refresh: CacheRefresh) {
        guard let cache = caching?.cache, cache.claimRefresh(refresh) else { return }
        var asked = request
        asked.method = refresh.request.method
        asked.target = refresh.request.target
        asked.fields = refresh.request.fields
        asked.framing = .none
        asked.body = nil
        asked.mayBeSentTwice = Repeatability(method: asked.method).mayBeSentTwice
        CacheRefreshing(
            loop: loop, request: asked, refresh: refresh, policy: rules.policy, route: route, wish: wish, cache: cache
        ).park(lastFailure)
    }
}
