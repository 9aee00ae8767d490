/// How far a response is that broke off and is to go on.
package struct ResumeProgress: Sendable, Hashable {
    /// Bytes of the body that the recipient has.
    package var done: Int
    /// Bytes of the whole body.
    package var total: Int
    /// How often it went on.
    package var times: Int

    package init(done: Int, total: Int, times: Int) {
        self.done = done
        self.total = total
        self.times = times
    }
}
