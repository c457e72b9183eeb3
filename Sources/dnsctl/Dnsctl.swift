@main struct Dnsctl { static func main() {} }
