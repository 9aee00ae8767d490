package import LayoverHTTP

extension RequestFields {
    /// - Parameter texts: Each `Name: value`, or `Name:` for an empty value.
    package init(_ texts: [String]) {
        self.init()
        for text in texts {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            append(String(parts[0]), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
        }
    }
}
