/// What the `Connection` fields of a message say (RFC 9110 section 7.6.1).
struct ConnectionOptions: Sendable {
    private(set) var closes = false
    private(set) var keepsAlive = false
    private(set) var upgrades = false
    /// Whether fields are nominated that are not hop-by-hop anyway. Rarely true, so the fast path
    /// need not make a set of names.
    private(set) var nominatesOthers = false
    /// Whether a field is nominated that says where a request goes, where it ends or who sends it.
    private(set) var nominatesEssentials = false

    /// Adds what one field value says. Members that are no tokens can name no field.
    mutating func read(_ value: Range<Int>, in bytes: UnsafeRawBufferPointer) {
        for member in ListMembers(value, in: bytes) {
            if ByteText.equalsIgnoringCase("close", in: bytes, member) {
                closes = true
            } else if ByteText.equalsIgnoringCase("keep-alive", in: bytes, member) {
                keepsAlive = true
            } else {
                switch KnownField.recognise(bytes, member) {
                case .upgrade: upgrades = true
                case let known where KnownField.refusedInNomination.contains(known):
                    nominatesEssentials = true
                case let known where KnownField.hopByHop.contains(known): break
                case let known where KnownField.protectedFromNomination.contains(known): break
                default: nominatesOthers = true
                }
            }
        }
    }
}
