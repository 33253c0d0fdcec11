package failure

// responsesTable lists the codes that OpenAI's Responses has beside those of
// Chat Completions. They stand in response.error of a failed answer, whose
// status is a success.
func responsesTable() table {
	return table{name: "responses", codes: map[string]verdict{
		"previous_response_not_found":    badRequest,
		"bio_policy":                     refused,
		"image_content_policy_violation": refused,
		"vector_store_timeout":           timedOut,
		"invalid_image":                  badRequest,
		"invalid_image_format":           badRequest,
		"invalid_image_mode":             badRequest,
		"invalid_image_url":              badRequest,
		"invalid_base64_image":           badRequest,
		"image_parse_error":              badRequest,
		"image_too_large":                badRequest,
		"image_too_small":                badRequest,
		"image_file_too_large":           badRequest,
		"image_file_not_found":           badRequest,
		"unsupported_image_media_type":   badRequest,
		"empty_image_file":               badRequest,
		"failed_to_download_image":       badRequest,
	}}
}
