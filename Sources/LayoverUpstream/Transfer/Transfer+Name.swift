import CCurl
import LayoverCore
import LayoverEngine

extension Transfer {
    /// Whether libcurl would certainly make a new connection, so that it needs the addresses first.
    var needsConnection: Bool { isDial || setOptions.isFresh }

    /// Sets the entry by which libcurl gets the addresses of the endpoint's name; nil: libcurl gets no entry.
    func setResolveEntry(_ content: ResolveEntry.Content?) {
        guard content != nil || setOptions.hasResolveEntry else { return }
        setOptions.hasResolveEntry = content != nil
        guard let content, let endpoint = attempt?.request.endpoint else {
            layover_set_list(easy, CURLOPT_RESOLVE, nil)
            return
        }
        layover_set_list(easy, CURLOPT_RESOLVE, resolveEntry.fill(content, for: endpoint))
    }

    /// RESOLVER_START_FUNCTION: libcurl has no addresses for the host of a new connection.
    ///
    /// It must not look for them itself, except that it reads literals here, too.
    func mayResolve() -> Bool {
        if case .literal = hostName { return true }
        resolving.missCount += 1
        abortCause = .nameMissing
        return false
    }
}
