import CCurl
import LayoverCore
import LayoverEngine

// Names of origins, or of the parent proxies before them: libcurl gets addresses with each attempt and never resolves.
//
// Where the addresses are not known and an idle connection might do, libcurl is let try without them: a
// kept-alive connection needs no resolver. It says by `mayResolve` when it needs one.

extension WorkerLoop {
    /// Gives an attempt to libcurl, with what is known of its name.
    func launch(_ transfer: Transfer) {
        guard let endpoint = transfer.attempt?.request.endpoint else { return }
        switch transfer.easyOptions.hostName {
        case .literal: transfer.easyOptions.setResolveEntry(nil)
        case .loopback: transfer.easyOptions.setResolveEntry(.addresses(SystemLookup.loopback))
        case .impossible: return fail(transfer, .unknown, name: endpoint.host)
        case .name:
            if names.isGiven(endpoint, now: now) {
                transfer.easyOptions.setResolveEntry(nil)
            } else if transfer.easyOptions.needsConnection {
                return resolve(transfer)
            } else {
                transfer.easyOptions.setResolveEntry(.removal)
            }
        }
        add(transfer)
    }

    /// Lets an attempt wait for the addresses of its name.
    func resolve(_ transfer: Transfer) {
        guard let request = transfer.attempt?.request else { return }
        guard case .name(let name) = transfer.easyOptions.hostName else { return launch(transfer) }
        names.forget(request.endpoint)
        let endsAt = transfer.resolving.beganAt + request.timeouts.connect.nanoseconds
        transfer.resolving.endsAt = endsAt
        guard endsAt > now else { return abort(transfer, for: .timedOut) }
        noteDeadline(endsAt)
        if names.wait(for: name, slot: transfer.slot) { ask(name) }
    }

    private func ask(_ name: String) {
        guard let answer = resolver.ask(name, by: asker, notBefore: names.since) else { return }
        nameAnswered(name, answer)
    }

    /// The attempt goes on or ends; it waits no more.
    func stopWaiting(_ transfer: Transfer) {
        guard transfer.resolving.endsAt != nil else { return }
        transfer.resolving.endsAt = nil
        guard case .name(let name) = transfer.easyOptions.hostName else { return }
        names.stopWaiting(for: name, slot: transfer.slot)
    }

    /// The turn ends: the resolver hears which names nobody waits for any more.
    func withdrawNames() {
        let withdrawn = names.takeWithdrawn()
        if !withdrawn.isEmpty { resolver.withdraw(withdrawn, by: asker) }
    }

    /// No connection could be made to the addresses of the name: it may have moved. The next attempt asks for them again.
    func distrustName(of transfer: Transfer) {
        guard let endpoint = transfer.attempt?.request.endpoint, case .name(let name) = transfer.easyOptions.hostName else { return }
        guard let used = names.forget(endpoint) else { return }
        resolver.distrust(name, askedAt: used.askedAt)
    }

    /// The network has changed: whoever waits, waits for a new answer.
    func askAgain(since time: UInt64) {
        names.networkChanged(at: time)
        for name in names.waitingNames { ask(name) }
    }

    /// The resolver's answer is here.
    func nameAnswered(_ name: String, _ answer: NameAnswer) {
        // The answer is of an earlier network. The answer to the new question is under way.
        guard answer.askedAt >= names.since else { return }
        let waiting = names.takeWaiting(for: name).compactMap { transfers[$0] }
        for transfer in waiting.sorted(by: { $0.serial < $1.serial }) {
            transfer.resolving.endsAt = nil
            switch answer.outcome {
            case .addresses(let addresses): proceed(transfer, to: addresses, from: answer)
            case .failed(let failure): fail(transfer, failure, name: name)
            }
        }
    }

    private func proceed(_ transfer: Transfer, to addresses: String, from answer: NameAnswer) {
        guard let request = transfer.attempt?.request else { return }
        transfer.easyOptions.setResolveEntry(.addresses(addresses))
        names.noteGiven(answer, to: request.endpoint)
        let endsAt = transfer.resolving.beganAt + request.timeouts.connect.nanoseconds
        let left = Duration.nanoseconds(Int64(clamping: endsAt > now ? endsAt - now : 0))
        transfer.easyOptions.setConnectTimeout(left.millisecondsAtLeastOne)
        add(transfer)
    }

    private func fail(_ transfer: Transfer, _ failure: NameFailure, name: String) {
        transfer.abortCause = .nameFailed(failure, name: name)
        finish(transfer, code: CURLE_COULDNT_RESOLVE_HOST)
    }
}
