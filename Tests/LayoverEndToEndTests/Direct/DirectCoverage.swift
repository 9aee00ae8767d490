/// Which end-to-end tests have a twin that is run without a proxy, and why the others have none. `DirectCoverageTests` compares the list with
/// the files, so a new file of tests needs a place here.
enum DirectCoverage {
    struct Group {
        /// Where the twin is, or why there can be none.
        var answer: String
        /// Without `Tests.swift`.
        var files: [String]
    }

    static let all = twins + withoutTwin

    /// Tests that compare bytes, and can do so without Layover.
    static let twins: [Group] = [
        Group(
            answer: "programs of DirectProgram.all",
            files: ["Clients/Curl", "Clients/Git", "Clients/Node", "Clients/Python"]),
        Group(
            answer: "pip of DirectProgram.all; apt takes the same files, and its outages are the rest of the test",
            files: ["Clients/PackageTool"]),
        Group(answer: "scenes by the target that begins with https", files: ["Clients/SecureOrigin"]),
        Group(answer: "conversation of WebSockets in DirectPeerTests", files: ["Interception/WebSocket"]),
        Group(answer: "curl by HTTP/2 in DirectPeerTests, and http2_scenes.py; refused and dying streams are repeated by Layover", files: ["Clients/HTTP2Origin"]),
        Group(
            answer: "programs of DirectProgram.all, in which curl speaks HTTP/2 to Layover, and http2_scenes.py; held streams and floods are Layover's own",
            files: ["Interception/HTTP2Client"]),
        Group(
            answer: "scenes by interception; what waits for an origin has none",
            files: ["Interception/Interception", "Interception/ConnectionEnd", "Interception/UnclosedTLS"]),
        Group(
            answer: "long downloads and uploads of DirectProgram.all, and slow ones of DirectScene.all; the memory is Layover's own",
            files: ["Interception/LargeBody", "Bounds/BackPressure"]),
        Group(answer: "scenes with chunks that are answered one by one", files: ["Streams/Stream"]),
        Group(answer: "scenes that break for a POST, which is not continued", files: ["Outage/RecordCut"]),
        Group(answer: "this folder", files: ["Direct/Direct", "Direct/DirectCoverage", "Direct/DirectHTTP2", "Direct/DirectPeer", "Direct/DirectProgram"]),
    ]

    static let withoutTwin: [Group] = [
        Group(
            answer: "kinds, evidence and texts of Layover's own failures, compared between its ways; without it the client has the bytes",
            files: ["Outage/MisbehavingOrigin"]),
        Group(
            answer: "Layover waits, repeats or continues; without it the client gets the error of the outage",
            files: [
                "Evidence/MaybeApplied", "Evidence/PreconditionOutcome", "Interception/ServicesInside", "Mission/Policy",
                "Mission/SharedTrouble", "Outage/NetworkOutage", "Outage/ResumeDelay", "Outage/Resume", "Outage/UnknownName",
                "Stories/SidecarStory", "Stories/Story", "Stories/Tour", "Running/HungServer", "Running/Cancel", "Running/Rehearsal",
                "Running/OfflineTunnel", "Running/Batch",
            ]),
        Group(
            answer: "tickets and the store do not exist without Layover",
            files: [
                "Bounds/NoDescriptor", "Durable/BrokenDisk", "Durable/ClockJump", "Durable/Crash", "Durable/FullDisk", "Durable/FullSpool",
                "Durable/History", "Durable/PowerLossOrder", "Durable/PublicURL", "Durable/ReadOnly", "Durable/Secret", "Durable/Stop",
                "Durable/StoreOpening", "Durable/StoreReopening", "Mission/AsyncOrigin", "Mission/Explain", "Mission/LocalIdentifier",
                "Mission/OfflineFirst", "Mission/Order", "Mission/ReadingOffline", "Running/BodyCommand",
            ]),
        Group(
            answer: "a route changes addresses in responses, which is what is tested",
            files: ["Clients/BaseURLTool"]),
        Group(
            answer: "the way through a parent proxy, which a client without Layover would have to be set up for",
            files: ["Outage/ChangingParentProxy", "Outage/ParentProxy", "Outage/RealParentProxy"]),
        Group(
            answer: "certificates and handshakes of Layover with its client; the bytes behind them are those of the scenes by interception",
            files: [
                "Authority/AuthorityCommand", "Authority/TrustStore", "Authority/TrustedClient", "Interception/ClientCertificate",
                "Interception/ClientHello", "Interception/ManyNames", "Interception/Rejection", "Interception/ServerName", "Interception/UpstreamCertificate",
                "Running/SecureListener",
            ]),
        Group(
            answer: "descriptors, memory and threads of Layover",
            files: ["Bounds/Descriptor", "Bounds/LeavingClient", "Memory/Memory", "Memory/Soak", "Memory/UsageTrend", "Running/DelayMetrics"]),
        Group(
            answer: "commands, logs, the admin API and the process of Layover",
            files: [
                "Exec/ExecTerminal", "Exec/PrivateProxy", "Running/AccessLog", "Running/AdminSocket", "Running/CommandLine",
                "Running/LogReader", "Running/LogSecret", "Running/Notification", "Running/Schemathesis",
                "Running/ServiceManager", "Running/StartAndStop", "Running/UnprivilegedUser", "Running/UserCommand",
            ]),
    ]
}
