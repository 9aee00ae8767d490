/// Takes the events of attempts, on the event loop that started them.
package protocol UpstreamReceiver: AnyObject {
    func receive(_ event: UpstreamEvent, of attempt: UpstreamAttempt)
}
