package telemetry

// Attribute is one fact of a span, or a label of a metric.
type Attribute struct {
	Name    string
	Where   Where
	Meaning string
}

// Where says which telemetry has an attribute.
type Where uint8

const (
	OnRequest Where = 1 << iota // the span of a request
	OnAttempt                   // the span of an attempt
	OnMetrics                   // metrics
)

// The names of the conventions.
const (
	operationName    = "gen_ai.operation.name"
	providerName     = "gen_ai.provider.name"
	requestModel     = "gen_ai.request.model"
	requestStream    = "gen_ai.request.stream"
	requestMaxTokens = "gen_ai.request.max_tokens"
	responseModel    = "gen_ai.response.model"
	finishReasons    = "gen_ai.response.finish_reasons"
	firstChunk       = "gen_ai.response.time_to_first_chunk"
	tokenType        = "gen_ai.token.type"
	inputTokens      = "gen_ai.usage.input_tokens"
	outputTokens     = "gen_ai.usage.output_tokens"
	cacheRead        = "gen_ai.usage.cache_read.input_tokens"
	cacheCreation    = "gen_ai.usage.cache_creation.input_tokens"
	reasoningTokens  = "gen_ai.usage.reasoning.output_tokens"
	errorType        = "error.type"
	serverAddress    = "server.address"
	serverPort       = "server.port"
	httpStatus       = "http.response.status_code"
)

// Our own names.
const (
	ownRequest      = "spillway.request"
	ownConversation = "spillway.conversation"
	ownDialect      = "spillway.dialect"
	ownGraph        = "spillway.graph"
	ownHead         = "spillway.head"
	ownRoute        = "spillway.route"
	ownAttempts     = "spillway.attempts"
	ownOutcome      = "spillway.outcome"
	ownAttempt      = "spillway.attempt"
	ownProvider     = "spillway.provider"
	ownModel        = "spillway.model"
	ownKey          = "spillway.key"
	ownKind         = "spillway.kind"
	ownReason       = "spillway.reason"
	ownDelay        = "spillway.delay"
	ownSkipped      = "spillway.skipped"
	ownDropped      = "spillway.dropped"
	ownCommitted    = "spillway.committed"
	ownEstimated    = "spillway.estimated"
	ownCode         = "spillway.code"
	ownCause        = "spillway.cause"
	ownScope        = "spillway.scope"
	ownPhase        = "spillway.phase"
	ownRule         = "spillway.rule"
	ownAction       = "spillway.action"
	ownCircuits     = "spillway.circuits"
	ownPlugin       = "spillway.plugin"
	ownTarget       = "spillway.target"
)

// Attributes is the table of all of them.
func Attributes() []Attribute {
	return []Attribute{
		{operationName, OnRequest | OnAttempt | OnMetrics, "always chat"},
		{providerName, OnRequest | OnAttempt | OnMetrics, "the vendor, as the conventions spell it; of a request the one that was asked last"},
		{requestModel, OnRequest | OnAttempt | OnMetrics, "the model that was asked for; of an attempt its route's"},
		{requestStream, OnRequest | OnAttempt, "true if a stream was asked for"},
		{requestMaxTokens, OnRequest | OnAttempt, "the most tokens that the client wants"},
		{responseModel, OnRequest, "the model of the route that answered"},
		{finishReasons, OnRequest | OnAttempt, "one of stop, length, tool_call, content_filter, error; error for an answer that was cut"},
		{firstChunk, OnRequest | OnAttempt, "seconds to the first visible content of a stream"},
		{inputTokens, OnAttempt, "tokens read, cached ones included"},
		{outputTokens, OnAttempt, "tokens written, reasoning included"},
		{cacheRead, OnAttempt, "of the tokens read, those from the vendor's cache"},
		{cacheCreation, OnAttempt, "of the tokens read, those put into the vendor's cache"},
		{reasoningTokens, OnAttempt, "of the tokens written, those of reasoning"},
		{tokenType, OnMetrics, "input or output"},
		{errorType, OnRequest | OnAttempt | OnMetrics, "the failure's code as plugins judged it, such as QUOTA; ABORTED if the client left, which is no error"},
		{serverAddress, OnAttempt, "the vendor's host"},
		{serverPort, OnAttempt, "and port"},
		{httpStatus, OnAttempt, "status of a vendor's answer that was a failure"},

		{ownRequest, OnRequest | OnAttempt, "the id that explain takes"},
		{ownConversation, OnRequest, "a hash of the conversation's id"},
		{ownDialect, OnRequest | OnMetrics, "the client's dialect"},
		{ownGraph, OnRequest, "number of the graph that the request ran on"},
		{ownHead, OnRequest, "the route that was asked for"},
		{ownRoute, OnRequest | OnAttempt, "the route of the attempt; of a request that of the last one"},
		{ownAttempts, OnRequest, "how many attempts there were"},
		{ownOutcome, OnRequest | OnAttempt | OnMetrics, "how it ended: ok, ok_after_retry, ok_after_failover, ok_after_fallback, failed_clean, failed_midstream, cancelled; in metrics also refused; of an attempt ok, failed, cancelled"},
		{ownAttempt, OnAttempt, "number of the attempt, from 1"},
		{ownProvider, OnAttempt | OnMetrics, "the profile's entry"},
		{ownModel, OnMetrics, "a model that the catalogue lists, else other"},
		{ownKey, OnAttempt, "fingerprint of the key"},
		{ownKind, OnAttempt | OnMetrics, "primary, retry, failover, fallback, probe or resume"},
		{ownReason, OnRequest | OnAttempt, "why the attempt was made; why a request ended without one"},
		{ownDelay, OnAttempt, "seconds that the attempt was held back"},
		{ownSkipped, OnRequest | OnAttempt, "candidates that were passed over, each with the reason"},
		{ownDropped, OnAttempt, "what the vendor's dialect could not carry"},
		{ownCommitted, OnAttempt, "true if something visible was handed out"},
		{ownEstimated, OnAttempt, "true if the vendor has not said how many tokens there were: they are guessed"},
		{ownCode, OnAttempt | OnMetrics, "the failure's code as the host saw it; in metrics as plugins judged it, OK without one"},
		{ownCause, OnAttempt, "what broke of a connection"},
		{ownScope, OnRequest | OnAttempt | OnMetrics, "what the failure concerns: route, vendor, key; in metrics what a target is"},
		{ownPhase, OnRequest | OnAttempt, "where it happened: transport, response, stream"},
		{ownRule, OnAttempt, "what decided the code"},
		{ownAction, OnAttempt, "what followed: retry, failover, fallback, wait, stop"},
		{ownCircuits, OnAttempt, "circuits that the failure moved"},
		{ownPlugin, OnMetrics, "a plugin's entry"},
		{ownTarget, OnMetrics, "vendor, vendor/model, vendor#key or vendor#key/model"},
	}
}
