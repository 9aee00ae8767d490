/// `Authorization: SharedAccessSignature sr=…&sig=…&se=…&skn=…` of Azure Service Bus, Event Hubs and IoT Hub.
/// `se` is in seconds since 1970.
///
/// - SeeAlso: learn.microsoft.com/azure/service-bus-messaging/service-bus-sas
enum SharedAccessSignature {
    static func authorization(_ value: String) -> CredentialExpiry? {
        let words = value.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "sharedaccesssignature" else { return nil }
        let parameters = QueryParameters(pairs: words[1])
        guard parameters.has("sig"), let expires = parameters.number("se") else { return nil }
        return CredentialExpiry(expires, "The shared access signature in the field Authorization expires (se).")
    }
}
